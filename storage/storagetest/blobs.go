package storagetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/open-executor/executor"
)

var blobClaims = []claim{
	{"content is kept by its digest", func(t *testing.T, s executor.Storage) {
		for _, blobs := range both(s) {
			for _, content := range [][]byte{{}, []byte("hello"), large()} {
				digest := putBlob(t, blobs, content)
				if got := read(t, blobs, digest); !bytes.Equal(got, content) {
					t.Errorf("Open gives %d bytes that differ from the %d stored", len(got), len(content))
				}
			}
		}
	}},
	{"content can be read from any place", func(t *testing.T, s executor.Storage) {
		content := large()
		digest := putBlob(t, s.Blobs(), content)
		r := must[io.ReadSeekCloser](t)(s.Blobs().Open(context.Background(), digest))
		defer func() { _ = r.Close() }() // it was only read
		size := must[int64](t)(r.Seek(0, io.SeekEnd))
		wantEqual(t, "end", size, int64(len(content)))
		for _, from := range []int64{0, 7, size / 2, size - 3, 1} {
			part := make([]byte, min(100, size-from))
			at := must[int64](t)(r.Seek(from, io.SeekStart))
			if _, err := io.ReadFull(r, part); err != nil || at != from || !bytes.Equal(part, content[from:from+int64(len(part))]) {
				t.Errorf("reading from %d: at %d, %v, or other content", from, at, err)
			}
		}
	}},
	{"absent content is not found", func(t *testing.T, s executor.Storage) {
		for _, digest := range []string{digestOf([]byte("absent")), "", "x", "../../lock", strings.ToUpper(digestOf([]byte("hello")))} {
			putBlob(t, s.Blobs(), []byte("hello"))
			_, err := s.Blobs().Open(context.Background(), digest)
			wantCode(t, "Open", err, executor.NotFound)
			if err := s.Blobs().Delete(context.Background(), digest); err != nil {
				t.Errorf("Delete of absent content: %v", err)
			}
		}
	}},
	{"the same content is stored once", func(t *testing.T, s executor.Storage) {
		for _, err := range race(func(int) error {
			_, _, err := s.Blobs().Put(context.Background(), strings.NewReader("same"))
			return err
		}) {
			if err != nil {
				t.Error(err)
			}
		}
		wantDigests(t, s.Blobs(), digestOf([]byte("same")))
	}},
	{"after an error of the reader nothing is stored", func(t *testing.T, s executor.Storage) {
		broken := errors.New("broken")
		for _, content := range []io.Reader{iotest.ErrReader(broken), io.MultiReader(bytes.NewReader(large()), iotest.ErrReader(broken))} {
			if _, _, err := s.Blobs().Put(context.Background(), content); !errors.Is(err, broken) {
				t.Errorf("Put: %v, want the reader's error", err)
			}
		}
		wantDigests(t, s.Blobs())
		_, err := s.Blobs().Open(context.Background(), digestOf(large()))
		wantCode(t, "Open", err, executor.NotFound)
	}},
	{"deleted content is gone, and can be stored again", func(t *testing.T, s executor.Storage) {
		a, b := putBlob(t, s.Blobs(), []byte("a")), putBlob(t, s.Blobs(), []byte("b"))
		if err := s.Blobs().Delete(context.Background(), a); err != nil {
			t.Fatal(err)
		}
		_, err := s.Blobs().Open(context.Background(), a)
		wantCode(t, "Open", err, executor.NotFound)
		wantDigests(t, s.Blobs(), b)
		putBlob(t, s.Blobs(), []byte("a"))
		wantDigests(t, s.Blobs(), a, b)
	}},
	{"results and manifests are apart", func(t *testing.T, s executor.Storage) {
		digest := putBlob(t, s.Blobs(), []byte("x"))
		_, err := s.Artifacts().Open(context.Background(), digest)
		wantCode(t, "Open", err, executor.NotFound)
		putBlob(t, s.Artifacts(), []byte("x"))
		if err := s.Blobs().Delete(context.Background(), digest); err != nil {
			t.Fatal(err)
		}
		wantDigests(t, s.Blobs())
		wantDigests(t, s.Artifacts(), digest)
	}},
}

func both(s executor.Storage) []executor.Blobs { return []executor.Blobs{s.Blobs(), s.Artifacts()} }

// large gives content that no storage keeps in one small piece.
func large() []byte { return bytes.Repeat([]byte("0123456789abcdef-"), 200_000) }

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func putBlob(t *testing.T, blobs executor.Blobs, content []byte) string {
	t.Helper()
	digest, size, err := blobs.Put(context.Background(), bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if digest != digestOf(content) || size != int64(len(content)) {
		t.Errorf("Put = %s, %d, want %s, %d", digest, size, digestOf(content), len(content))
	}
	return digest
}

func read(t *testing.T, blobs executor.Blobs, digest string) []byte {
	t.Helper()
	r := must[io.ReadSeekCloser](t)(blobs.Open(context.Background(), digest))
	content := must[[]byte](t)(io.ReadAll(r))
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	return content
}

func wantDigests(t *testing.T, blobs executor.Blobs, want ...string) {
	t.Helper()
	got := must[[]string](t)(blobs.List(context.Background()))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("List = %v, want %v", got, want)
	}
}
