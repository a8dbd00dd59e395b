package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"filippo.io/age"

	"github.com/open-executor/executor"
)

// The plain text begins with its purpose, so that nothing encrypted for one can
// be put in the place of another.
const (
	forSecrets = "executor secrets 1\n"
	forSealing = "executor sealed 1\n"
)

// sealWait bounds Seal and Unseal, which have no context.
const sealWait = 15 * time.Second

// Seal implements executor.Sealer, with the key of the secrets.
func (s *Store) Seal(plain []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), sealWait)
	defer cancel()
	id, err := s.key.get(ctx)
	if errors.Is(err, errNoKey) {
		id, err = s.createKey(ctx)
	}
	if err != nil {
		return nil, err
	}
	return encrypt(id, forSealing, plain)
}

// createKey makes the key if nobody else has made it by then.
func (s *Store) createKey(ctx context.Context) (*age.X25519Identity, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	id, err := s.key.get(ctx)
	if errors.Is(err, errNoKey) {
		return s.key.create(ctx)
	}
	return id, err
}

// Unseal implements executor.Sealer. What was sealed with another key is
// Unavailable.
func (s *Store) Unseal(sealed []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), sealWait)
	defer cancel()
	plain, err := s.open(ctx, forSealing, sealed)
	var mismatch *mismatchError
	var ours *executor.Error
	switch {
	case err == nil, errors.As(err, &ours):
		return plain, err
	case errors.As(err, &mismatch):
		return nil, &executor.Error{
			Code: executor.Unavailable, Op: "unseal",
			Msg: "it was sealed with another key", Hint: "make the call again",
		}
	}
	return nil, &executor.Error{
		Code: executor.Internal, Op: "unseal", Err: err,
		Msg: "what was sealed is damaged", Hint: "make the call again",
	}
}

func encrypt(id *age.X25519Identity, purpose string, plain []byte) ([]byte, error) {
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, id.Recipient())
	if err == nil {
		_, err = w.Write(append([]byte(purpose), plain...))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, &executor.Error{Code: executor.Internal, Op: "seal", Msg: "age does not encrypt", Err: err}
	}
	return sealed.Bytes(), nil
}

// A mismatchError says that a text is encrypted for another key.
type mismatchError struct{ error }

var errPurpose = errors.New("it was encrypted for another purpose")

func decrypt(id *age.X25519Identity, purpose string, sealed []byte) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(sealed), id)
	var mismatch *age.NoIdentityMatchError
	if errors.As(err, &mismatch) {
		return nil, &mismatchError{err}
	}
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	plain, ok := bytes.CutPrefix(plain, []byte(purpose))
	if !ok {
		return nil, errPurpose
	}
	return plain, nil
}
