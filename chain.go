package executor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
)

// An Entry is one link of the chain of run records.
type Entry struct {
	Seq  uint64          `json:"seq"`  // 1, 2, 3 …
	Prev string          `json:"prev"` // Hash of the entry before; "" for the first
	Hash string          `json:"hash"` // SHA-256 over Seq, Prev and Run, lower-case hex
	Run  json.RawMessage `json:"run"`  // a Run, as it was hashed
}

// Follow makes the entry that comes after last; the zero Entry begins a chain.
// A storage calls it with its appends in order.
func (last Entry) Follow(run Run) (Entry, error) {
	data, err := json.Marshal(run)
	if err != nil {
		return Entry{}, &Error{Code: Internal, Op: "record", Msg: "run cannot be encoded", Err: err}
	}
	e := Entry{Seq: last.Seq + 1, Prev: last.Hash, Run: data}
	e.Hash = e.sum()
	return e, nil
}

// Check tells whether e follows last unaltered.
func (e Entry) Check(last Entry) error {
	switch {
	case e.Seq != last.Seq+1:
		return chainError(fmt.Sprintf("entry %d stands where %d belongs", e.Seq, last.Seq+1))
	case e.Prev != last.Hash:
		return chainError(fmt.Sprintf("entry %d does not name the hash of entry %d", e.Seq, last.Seq))
	case e.Hash != e.sum():
		return chainError(fmt.Sprintf("entry %d was altered: its hash does not match its content", e.Seq))
	}
	return nil
}

func (e Entry) sum() string {
	h := sha256.New()
	h.Write(strconv.AppendUint(nil, e.Seq, 10)) // a hash never returns an error
	h.Write([]byte("\n" + e.Prev + "\n"))
	h.Write(e.Run)
	return hex.EncodeToString(h.Sum(nil))
}

func chainError(msg string) error {
	return &Error{Code: Internal, Op: "audit", Msg: msg, Hint: "keep a copy of the data directory; run: executor doctor"}
}
