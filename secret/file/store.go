// Package file is the secret provider "file": a store of secrets in one file,
// encrypted with age (age-encryption.org/v1). A reference file://NAME is the secret
// that was kept under NAME. The key is in the system's keychain where there is
// one, else in a file beside the store that only its owner can read.
//
// The package imports executor, filippo.io/age and zalando/go-keyring. Who may use
// which secret for what is the executor's.
package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/open-executor/executor"
)

// Names of the files in the directory. A program that backs it up needs the
// first, and the second where there is one.
const (
	secretsName  = "secrets.age"      // the secrets, encrypted
	keyName      = "secrets.key"      // the key, where no keychain has it
	keychainName = "secrets.keychain" // which entry of the keychain is the key; not secret
	lockName     = "secrets.lock"     // held while one process writes
)

const (
	maxValue = 64 << 10 // bytes of one secret
	maxTotal = 32 << 20 // bytes of all, as JSON
)

// Options of a [Store].
type Options struct {
	NoKeychain   bool          // use no keychain; the key is in a file
	KeychainWait time.Duration // how long the keychain may take to answer; 0: 2 s
}

// A Store keeps secrets in a directory. It is an executor.Provider, Keeper and
// Sealer. Several stores, also of several processes, may share a directory. Safe
// for concurrent use.
type Store struct {
	dir   string
	key   keyring
	turns chan struct{} // one token: the right to wait for the lock file
}

// Open gives the store in dir. It reads and makes nothing: the directory, the key
// and the file are made when the first secret is kept, and the keychain is asked
// only when there is something to encrypt or decrypt.
func Open(dir string, o Options) *Store {
	wait := o.KeychainWait
	if wait == 0 {
		wait = 2 * time.Second
	}
	return &Store{
		dir:   dir,
		key:   keyring{dir: dir, off: o.NoKeychain, chain: &keychain{wait: wait, busy: make(chan struct{}, 1)}, known: &known{}},
		turns: make(chan struct{}, 1),
	}
}

// Scheme gives "file".
func (*Store) Scheme() string { return "file" }

// Where says where the key is, for people: "OS keychain", or "key file <path>
// (mode 0600)". It does not ask the keychain.
func (s *Store) Where() string { return s.key.where() }

// Secret gives what was kept under the name in ref.
func (s *Store) Secret(ctx context.Context, ref executor.SecretRef) (executor.Secret, error) {
	if err := ctx.Err(); err != nil {
		return executor.Secret{}, abandoned(err)
	}
	name, err := nameOf(ref)
	if err != nil {
		return executor.Secret{}, err
	}
	secrets, err := s.load(ctx)
	if err != nil {
		return executor.Secret{}, err
	}
	value, ok := secrets[name]
	if !ok {
		return executor.Secret{}, &executor.Error{
			Code: executor.NotFound, Op: "secret",
			Msg:  fmt.Sprintf("no secret is kept under %q", name),
			Hint: "keep it again by connecting again",
		}
	}
	return executor.NewSecret(string(value)), nil
}

// Keep stores value, of at most 64 KiB, under name. When it returns, the secret is
// on disk.
func (s *Store) Keep(ctx context.Context, name string, value executor.Secret) (executor.SecretRef, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	if size := len(value.Reveal()); size > maxValue {
		return "", &executor.Error{
			Code: executor.Invalid, Op: "secret",
			Msg:  fmt.Sprintf("the secret %q has %d bytes; at most %d can be kept", name, size, maxValue),
			Hint: "keep a key or token, and leave documents where they are",
		}
	}
	err := s.change(ctx, func(secrets map[string][]byte) bool {
		secrets[name] = []byte(value.Reveal())
		return true
	})
	if err != nil {
		return "", err
	}
	return executor.SecretRef("file://" + name), nil
}

// Forget removes the secret of the name in ref.
func (s *Store) Forget(ctx context.Context, ref executor.SecretRef) error {
	name, err := nameOf(ref)
	if err != nil {
		return err
	}
	return s.change(ctx, func(secrets map[string][]byte) bool {
		_, there := secrets[name]
		delete(secrets, name)
		return there
	})
}

// change reads all secrets, lets edit change them, and writes them if it says
// so. Nobody else writes meanwhile.
func (s *Store) change(ctx context.Context, edit func(map[string][]byte) bool) error {
	if err := ctx.Err(); err != nil {
		return abandoned(err)
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	secrets, err := s.load(ctx)
	if err != nil {
		return err
	}
	if !edit(secrets) {
		return nil
	}
	return s.save(ctx, secrets)
}

// stored is the plain text of the secrets' file.
type stored struct {
	Version int               `json:"version"` // 1
	Secrets map[string][]byte `json:"secrets"`
}

// load gives all secrets; none when nothing has been kept yet. The file is read
// before the key: a store that is just being made has its key first.
func (s *Store) load(ctx context.Context) (map[string][]byte, error) {
	sealed, err := os.ReadFile(s.path(secretsName))
	if errors.Is(err, fs.ErrNotExist) {
		return map[string][]byte{}, nil
	}
	if err != nil {
		return nil, &executor.Error{
			Code: executor.Unavailable, Op: "secret", Err: err,
			Msg: s.path(secretsName) + " is not readable", Hint: "check its owner and mode",
		}
	}
	plain, err := s.open(ctx, forSecrets, sealed)
	if err != nil {
		return nil, err
	}
	var all stored
	dec := json.NewDecoder(bytes.NewReader(plain))
	if dec.Decode(&all) != nil || all.Version != 1 { // the cause is left out: it may quote the text
		return nil, &executor.Error{
			Code: executor.Internal, Op: "secret",
			Msg:  s.path(secretsName) + " was written by another version of this program",
			Hint: "use the newest version",
		}
	}
	if all.Secrets == nil {
		all.Secrets = map[string][]byte{}
	}
	return all.Secrets, nil
}

func (s *Store) save(ctx context.Context, secrets map[string][]byte) error {
	plain, err := json.Marshal(stored{Version: 1, Secrets: secrets})
	if err != nil {
		return &executor.Error{Code: executor.Internal, Op: "secret", Msg: "the secrets cannot be written as JSON"}
	}
	if len(plain) > maxTotal {
		return &executor.Error{
			Code: executor.Invalid, Op: "secret",
			Msg:  fmt.Sprintf("the secrets together have more than %d bytes", maxTotal),
			Hint: "disconnect what is no longer used",
		}
	}
	id, err := s.key.get(ctx)
	if errors.Is(err, errNoKey) {
		id, err = s.key.create(ctx)
	}
	if err != nil {
		return err
	}
	sealed, err := encrypt(id, forSecrets, plain)
	if err != nil {
		return err
	}
	return write(s.dir, secretsName, sealed)
}

// open decrypts with the key of this directory.
func (s *Store) open(ctx context.Context, purpose string, sealed []byte) ([]byte, error) {
	id, err := s.key.get(ctx)
	if errors.Is(err, errNoKey) {
		return nil, s.key.missing()
	}
	if err != nil {
		return nil, err
	}
	plain, err := decrypt(id, purpose, sealed)
	var mismatch *mismatchError
	switch {
	case err == nil:
		return plain, nil
	case purpose != forSecrets:
		return nil, err
	case errors.As(err, &mismatch):
		return nil, &executor.Error{
			Code: executor.Unavailable, Op: "secret",
			Msg:  fmt.Sprintf("%s is encrypted with another key than the one in the %s", s.path(secretsName), s.Where()),
			Hint: "put back the key that belongs to it, or move it away and connect again",
		}
	}
	return nil, &executor.Error{
		Code: executor.Internal, Op: "secret", Err: err,
		Msg:  s.path(secretsName) + " is damaged",
		Hint: "restore it from a backup, or move it away and connect again",
	}
}

func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }

// write replaces the file of that name: whole and on disk, or not at all.
func write(dir, name string, content []byte) (err error) {
	defer func() {
		if err != nil {
			err = &executor.Error{
				Code: executor.Internal, Op: "secret", Err: err,
				Msg: filepath.Join(dir, name) + " cannot be written", Hint: "check that the disk has room, and the directory's owner and mode",
			}
		}
	}()
	f, err := os.CreateTemp(dir, name+".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when all went well
	if _, err = io.Copy(f, bytes.NewReader(content)); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), filepath.Join(dir, name)); err != nil {
		return err
	}
	return syncDir(dir)
}

func abandoned(err error) error {
	return &executor.Error{Code: executor.Unavailable, Op: "secret", Msg: "nobody waits for the secret any more", Err: err}
}

func nameOf(ref executor.SecretRef) (string, error) {
	if ref.Scheme() != "file" {
		return "", &executor.Error{
			Code: executor.Invalid, Op: "secret",
			Msg:  fmt.Sprintf("secret reference %q does not name a kept secret", ref),
			Hint: "write file://NAME, for example file://github/work",
		}
	}
	return ref.Rest(), checkName(ref.Rest())
}

func checkName(name string) error {
	ok := name != "" && len(name) <= 128
	for i := 0; ok && i < len(name); i++ {
		c := name[i]
		ok = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || i > 0 && (c == '.' || c == '_' || c == '/' || c == '-')
	}
	if ok {
		return nil
	}
	return &executor.Error{
		Code: executor.Invalid, Op: "secret",
		Msg:  fmt.Sprintf("secret name %q is not usable", name),
		Hint: "use 1 to 128 lower-case letters, digits, ., _, / and -, beginning with a letter or digit",
	}
}
