package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"filippo.io/age"

	"github.com/open-executor/executor"
)

// A keyring has the one key of a directory. Where the key is says the directory
// itself: a key file, or the name of an entry of the keychain. So it does not
// change when a keychain comes or goes.
type keyring struct {
	dir   string
	off   bool // do not use the keychain
	chain *keychain
	known *known
}

// known is the key as the keychain gave it, so that it is asked once. Its name
// is the key's public half: another name is another key.
type known struct {
	mu   sync.Mutex
	name string
	id   *age.X25519Identity
}

// errNoKey says that the directory has no key.
var errNoKey = errors.New("no key")

// get gives the key that the directory has, or errNoKey.
func (k keyring) get(ctx context.Context) (*age.X25519Identity, error) {
	name, err := os.ReadFile(k.path(keychainName))
	inChain := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, k.unreadable(keychainName, err)
	}
	id, err := k.fromFile()
	switch {
	case inChain && errors.Is(err, errNoKey):
		return k.fromKeychain(ctx, strings.TrimSpace(string(name)))
	case inChain && err == nil:
		return nil, &executor.Error{
			Code: executor.Unavailable, Op: "secret",
			Msg:  fmt.Sprintf("%s and %s both name a key", k.path(keyName), k.path(keychainName)),
			Hint: "move away the one that does not belong to " + k.path(secretsName),
		}
	}
	return id, err
}

// fromFile reads the key file. One that others may read is refused.
func (k keyring) fromFile() (*age.X25519Identity, error) {
	f, err := os.Open(k.path(keyName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoKey
	}
	if err != nil {
		return nil, k.unreadable(keyName, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	stat, err := f.Stat()
	if err != nil {
		return nil, k.unreadable(keyName, err)
	}
	if exposed(stat) {
		return nil, &executor.Error{
			Code: executor.Unavailable, Op: "secret",
			Msg:  fmt.Sprintf("key file %s is not its owner's alone (mode %04o)", k.path(keyName), stat.Mode().Perm()),
			Hint: "run: chmod 600 " + k.path(keyName) + "; if somebody else may have read it, replace the credentials that are kept",
		}
	}
	ids, err := age.ParseIdentities(f)
	if err == nil && len(ids) == 1 {
		if id, ok := ids[0].(*age.X25519Identity); ok {
			return id, nil
		}
	}
	return nil, &executor.Error{ // the cause is left out: it may quote the key
		Code: executor.Unavailable, Op: "secret",
		Msg:  fmt.Sprintf("key file %s does not hold one age key", k.path(keyName)),
		Hint: "restore it from a backup",
	}
}

// exposed tells whether a file is other than plain, or open to others. Windows has
// no such modes.
func exposed(stat fs.FileInfo) bool {
	return !stat.Mode().IsRegular() || runtime.GOOS != "windows" && stat.Mode().Perm()&0o077 != 0
}

func (k keyring) fromKeychain(ctx context.Context, name string) (*age.X25519Identity, error) {
	if k.off {
		return nil, &executor.Error{
			Code: executor.Unavailable, Op: "secret",
			Msg:  "the key of the secrets is in the OS keychain, which is switched off",
			Hint: "run it without EXECUTOR_KEYCHAIN=off",
		}
	}
	k.known.mu.Lock()
	id := k.known.id
	if k.known.name != name {
		id = nil
	}
	k.known.mu.Unlock()
	if id != nil {
		return id, nil
	}
	text, err := k.chain.get(ctx, name)
	if err != nil {
		return nil, unanswered(err)
	}
	id, err = age.ParseX25519Identity(text)
	if err != nil || id.Recipient().String() != name { // the cause is left out: it may quote the key
		return nil, &executor.Error{
			Code: executor.Unavailable, Op: "secret",
			Msg:  fmt.Sprintf("the OS keychain's entry %q of %q is not the key", name, service),
			Hint: "restore the keychain from a backup",
		}
	}
	k.remember(name, id)
	return id, nil
}

func (k keyring) remember(name string, id *age.X25519Identity) {
	k.known.mu.Lock()
	defer k.known.mu.Unlock()
	k.known.name, k.known.id = name, id
}

// create makes the key; the caller holds the lock and has seen that there is none.
// A store that is encrypted already gets no other key.
func (k keyring) create(ctx context.Context) (*age.X25519Identity, error) {
	if _, err := os.Stat(k.path(secretsName)); !errors.Is(err, fs.ErrNotExist) {
		return nil, k.missing()
	}
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	name := id.Recipient().String()
	if !k.off && k.intoKeychain(ctx, name, id) {
		if err := write(k.dir, keychainName, []byte(name+"\n")); err != nil {
			return nil, err
		}
		k.remember(name, id)
		return id, nil
	}
	if ctx.Err() != nil {
		return nil, abandoned(ctx.Err())
	}
	// A keychain that was too slow may have the first key by now.
	if id, err = age.GenerateX25519Identity(); err != nil {
		return nil, err
	}
	text := "# The key of " + secretsName + ". Whoever has both has the secrets.\n# public key: " + id.Recipient().String() + "\n" + id.String() + "\n"
	return id, write(k.dir, keyName, []byte(text))
}

// intoKeychain tells whether the keychain has taken the key: it must give it
// back. Why it has not is of no use to anybody; [Store.Where] says where the key
// is.
func (k keyring) intoKeychain(ctx context.Context, name string, id *age.X25519Identity) bool {
	if err := k.chain.set(ctx, name, id.String()); err != nil {
		return false
	}
	back, err := k.chain.get(ctx, name)
	return err == nil && back == id.String()
}

// missing is the error of a store without its key.
func (k keyring) missing() error {
	return &executor.Error{
		Code: executor.Unavailable, Op: "secret",
		Msg:  fmt.Sprintf("the key of the secrets in %s is missing", k.dir),
		Hint: fmt.Sprintf("put %s or %s back, or move %s away and connect again", keyName, keychainName, secretsName),
	}
}

func (k keyring) unreadable(name string, err error) error {
	return &executor.Error{
		Code: executor.Unavailable, Op: "secret", Err: err,
		Msg: k.path(name) + " is not readable", Hint: "check its owner and mode",
	}
}

func (k keyring) where() string {
	if stat, err := os.Stat(k.path(keyName)); err == nil {
		return fmt.Sprintf("key file %s (mode %04o)", k.path(keyName), stat.Mode().Perm())
	}
	if _, err := os.Stat(k.path(keychainName)); err == nil {
		return "OS keychain"
	}
	if _, err := os.Stat(k.path(secretsName)); err == nil {
		return "nowhere: the key is missing"
	}
	return "nowhere yet: a key is made when the first secret is kept"
}

func (k keyring) path(name string) string { return filepath.Join(k.dir, name) }
