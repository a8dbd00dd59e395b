package file

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendLine adds text to dst as a checked line. text has no newline.
func appendLine(dst, text []byte) []byte {
	dst = fmt.Appendf(dst, "%08x %d ", crc32.Checksum(text, castagnoli), len(text))
	dst = append(dst, text...)
	return append(dst, '\n')
}

// parseLine gives the text of a line, which includes its newline. why says what
// is wrong with it, "" when nothing is.
func parseLine(line []byte) (text []byte, why string) {
	sum, start, n, ok := header(line)
	switch {
	case !ok:
		return nil, "the line does not begin with checksum and length"
	case len(line) < start+n+1:
		return nil, "the line is shorter than it says"
	case len(line) > start+n+1:
		return nil, "the line is longer than it says"
	case line[start+n] != '\n':
		return nil, "the line does not end"
	case sum != crc32.Checksum(line[start:start+n], castagnoli):
		return nil, "the checksum does not match"
	}
	return line[start : start+n], ""
}

// header reads checksum and length from the front of a line; the text begins at
// start. Only what appendLine writes is ok.
func header(line []byte) (sum uint32, start, n int, ok bool) {
	const digits = 12 // of a length, at most
	if len(line) < 11 || line[8] != ' ' {
		return 0, 0, 0, false
	}
	for _, c := range line[:8] {
		v := strings.IndexByte("0123456789abcdef", c)
		if v < 0 {
			return 0, 0, 0, false
		}
		sum = sum<<4 | uint32(v)
	}
	for i, c := range line[9:min(len(line), 9+digits+1)] {
		switch {
		case c == ' ' && i > 0:
			return sum, 9 + i + 1, n, true
		case c < '0' || c > '9' || i > 0 && n == 0:
			return 0, 0, 0, false
		}
		n = 10*n + int(c-'0')
	}
	return 0, 0, 0, false
}

// torn tells whether a bad line at the end of a file can be what a killed
// process leaves. A whole line with more behind it in place of its newline is
// not: that is two lines run together.
func torn(line []byte) bool {
	sum, start, n, ok := header(line)
	if !ok || len(line) <= start+n+1 {
		return true
	}
	return sum != crc32.Checksum(line[start:start+n], castagnoli)
}

// full tells whether a line has the length that it says.
func full(line []byte) bool {
	_, start, n, ok := header(line)
	return ok && len(line) == start+n+1 && line[len(line)-1] == '\n'
}

// A badLine is why a reader of lines stopped.
type badLine struct {
	at   int64 // where the line begins
	why  string
	torn bool // nothing stands behind it, and it may be an unfinished write
	full bool // as long as it says: if it is an unfinished write, one of which only a middle part is missing
}

func (b *badLine) Error() string { return fmt.Sprintf("byte %d: %s", b.at, b.why) }

// A lineReader reads checked lines one after the other.
type lineReader struct {
	r    *bufio.Reader
	at   int64 // where the next line begins
	long []byte
}

func newLineReader(r io.Reader, at int64) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 256<<10), at: at}
}

// next gives the text of the next line, valid until the call after, and where
// the line begins. At the end it gives io.EOF, for a bad line a *badLine.
func (l *lineReader) next() (text []byte, at int64, err error) {
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = l.r.ReadSlice('\n')
			l.long = append(l.long, line...)
		}
		line = l.long
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, l.at, err
	}
	if len(line) == 0 {
		return nil, l.at, io.EOF
	}
	text, why := parseLine(line)
	if why != "" {
		_, end := l.r.Peek(1)
		return nil, l.at, &badLine{at: l.at, why: why, torn: errors.Is(end, io.EOF) && torn(line), full: full(line)}
	}
	at = l.at
	l.at += int64(len(line))
	return text, at, nil
}
