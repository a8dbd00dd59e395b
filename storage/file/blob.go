package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/open-executor/executor"
)

// smallBlob is up to what size content is proven at Open and not while reading.
const smallBlob = 1 << 20

// blobs keeps content by its SHA-256. Safe for concurrent use.
type blobs struct {
	disk disk
	dir  string
}

const unfinished = "put-" // how names of content still being written begin

// sweep removes what a killed process was writing.
func (b blobs) sweep() error {
	names, err := os.ReadDir(b.dir)
	for _, name := range names {
		if strings.HasPrefix(name.Name(), unfinished) {
			err = errors.Join(err, os.Remove(filepath.Join(b.dir, name.Name())))
		}
	}
	return err
}

// Put writes content that is there already once more, so that a damaged copy
// does not stay.
func (b blobs) Put(ctx context.Context, content io.Reader) (digest string, size int64, err error) {
	if err := b.disk.before("create", b.dir); err != nil {
		return "", 0, diskError("store", b.dir, err)
	}
	f, err := os.CreateTemp(b.dir, unfinished+"*")
	if err != nil {
		return "", 0, diskError("store", b.dir, err)
	}
	kept := false
	defer func() {
		_ = f.Close() // all that counts is synced
		if !kept {
			_ = os.Remove(f.Name()) // otherwise the next Open does
		}
	}()
	h := sha256.New()
	size, err = io.Copy(&placed{b.disk, f, 0}, io.TeeReader(&bound{ctx, content}, h))
	if err != nil {
		return "", 0, putError(f.Name(), err)
	}
	digest = hex.EncodeToString(h.Sum(nil))
	if err = b.disk.sync(f); err == nil {
		err = b.disk.mkdir(filepath.Dir(b.path(digest)))
	}
	if err == nil {
		err = b.disk.rename(f.Name(), b.path(digest))
		_, missing := os.Stat(f.Name())
		kept = missing != nil
	}
	if err == nil {
		err = b.disk.syncDir(b.dir)
	}
	if err != nil {
		return "", 0, diskError("store", b.path(digest), err)
	}
	return digest, size, nil
}

// placed writes to a file from a place on.
type placed struct {
	disk disk
	f    *os.File
	at   int64
}

func (p *placed) Write(b []byte) (int, error) {
	if err := p.disk.write(p.f, b, p.at); err != nil {
		return 0, &writeError{err}
	}
	p.at += int64(len(b))
	return len(b), nil
}

// A writeError is the disk's and not the reader's.
type writeError struct{ error }

func putError(path string, err error) error {
	var refused *writeError
	if errors.As(err, &refused) {
		return diskError("store", path, refused.error)
	}
	return err
}

// bound is a reader that ends with ctx.
type bound struct {
	ctx context.Context
	r   io.Reader
}

func (b *bound) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.r.Read(p)
}

func (b blobs) path(digest string) string { return filepath.Join(b.dir, digest[:2], digest) }

// isDigest keeps everything that is not one away from paths.
func isDigest(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

func (b blobs) Open(ctx context.Context, digest string) (io.ReadSeekCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	absent := &executor.Error{Code: executor.NotFound, Op: "store", Msg: fmt.Sprintf("content %.80q does not exist", digest)}
	if !isDigest(digest) {
		return nil, absent
	}
	f, err := os.Open(b.path(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, absent
	}
	if err != nil {
		return nil, diskError("store", b.path(digest), err)
	}
	r := &blob{f: f, digest: digest, hash: sha256.New()}
	st, err := f.Stat()
	if err == nil && st.Size() <= smallBlob {
		err = r.prove()
	}
	if err != nil {
		_ = f.Close() // it was only read
		return nil, diskError("store", f.Name(), err)
	}
	return r, nil
}

// A blob is content being read. Read from front to end it is proven at the end;
// read in another order it is proven as a whole before.
type blob struct {
	f      *os.File
	digest string
	at     int64     // where Read goes on
	hash   hash.Hash // of the first hashed bytes
	hashed int64
	proven bool
}

func (b *blob) Read(p []byte) (int, error) {
	if !b.proven && b.at != b.hashed {
		if err := b.prove(); err != nil {
			return 0, err
		}
	}
	n, err := b.f.ReadAt(p, b.at)
	b.at += int64(n)
	if n > 0 && errors.Is(err, io.EOF) && b.proven {
		err = nil
	}
	if b.proven {
		return n, err
	}
	_, _ = b.hash.Write(p[:n]) // a hash never returns an error
	b.hashed = b.at
	if errors.Is(err, io.EOF) {
		if bad := b.match(b.hash); bad != nil {
			return 0, bad
		}
		b.proven = true
	}
	return n, err
}

// prove reads everything.
func (b *blob) prove() error {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(b.f, 0, 1<<62)); err != nil {
		return diskError("store", b.f.Name(), err)
	}
	if err := b.match(h); err != nil {
		return err
	}
	b.proven = true
	return nil
}

func (b *blob) match(h hash.Hash) error {
	if bytes.Equal([]byte(hex.EncodeToString(h.Sum(nil))), []byte(b.digest)) {
		return nil
	}
	return (&Damage{File: b.f.Name(), Msg: "the content does not match its digest"}).asError("store")
}

func (b *blob) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += b.at
	case io.SeekEnd:
		st, err := b.f.Stat()
		if err != nil {
			return 0, err
		}
		offset += st.Size()
	}
	if offset < 0 {
		return 0, fs.ErrInvalid
	}
	b.at = offset
	return offset, nil
}

func (b *blob) Close() error { return b.f.Close() }

func (b blobs) Delete(ctx context.Context, digest string) error {
	if err := ctx.Err(); err != nil || !isDigest(digest) {
		return err
	}
	path := b.path(digest)
	err := b.disk.before("remove", path)
	if err == nil {
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = b.disk.syncDir(filepath.Dir(path))
	}
	if err != nil {
		return diskError("store", path, err)
	}
	return nil
}

func (b blobs) List(ctx context.Context) ([]string, error) {
	digests := []string{}
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && isDigest(d.Name()) {
			digests = append(digests, d.Name())
		}
		return errors.Join(err, ctx.Err())
	})
	if err != nil {
		return nil, diskError("store", b.dir, err)
	}
	return digests, nil
}
