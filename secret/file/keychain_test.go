package file_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	osring "github.com/zalando/go-keyring"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/secret/file"
	"github.com/open-executor/executor/secret/secrettest"
)

// mock stands in for the system's keychain.
func mock(t *testing.T) {
	t.Helper()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere") // there is a bus, as far as one can see
	osring.MockInit()
}

func files(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	for _, entry := range must(os.ReadDir(dir)) {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}

func TestWithAKeychainTheKeyIsThereAndNotInAFile(t *testing.T) {
	mock(t)
	dir := t.TempDir()
	s := file.Open(dir, file.Options{})
	secrettest.Run(t, s, keep(t, s, "github/work", "hunter2"), "hunter2", "file://github/other")
	if got, want := files(t, dir), "secrets.age secrets.keychain secrets.lock"; got != want {
		t.Errorf("files %s, want %s", got, want)
	}
	if got, want := s.Where(), "OS keychain"; got != want {
		t.Errorf("Where() = %q, want %q", got, want)
	}
	name := strings.TrimSpace(string(must(os.ReadFile(filepath.Join(dir, "secrets.keychain")))))
	key, err := osring.Get("executor", name)
	if err != nil || !strings.HasPrefix(key, "AGE-SECRET-KEY-1") {
		t.Errorf("the keychain's entry %q: %v, want an age key", name, err)
	}
	for _, entry := range must(os.ReadDir(dir)) {
		if bytes.Contains(must(os.ReadFile(filepath.Join(dir, entry.Name()))), []byte("AGE-SECRET-KEY")) {
			t.Errorf("%s holds the key", entry.Name())
		}
	}
	if got, err := file.Open(dir, file.Options{}).Unseal(must(s.Seal([]byte("args")))); err != nil || string(got) != "args" {
		t.Errorf("Unseal = %q, %v", got, err)
	}
}

func TestStoreWithAKeychainIsAKeeper(t *testing.T) {
	mock(t)
	dir := t.TempDir()
	// The stand-in for the keychain is not made for several at once: ask it once.
	s := file.Open(dir, file.Options{})
	keep(t, s, "first", "value")
	secrettest.RunKeeper(t, func() executor.Provider { return s })
}

func TestTwoDirectoriesHaveTwoKeysInOneKeychain(t *testing.T) {
	mock(t)
	one, two := t.TempDir(), t.TempDir()
	a, b := keep(t, file.Open(one, file.Options{}), "a", "1"), keep(t, file.Open(two, file.Options{}), "a", "2")
	for dir, want := range map[string]string{one: "1", two: "2"} {
		if got, err := file.Open(dir, file.Options{}).Secret(t.Context(), a); err != nil || got.Reveal() != want || a != b {
			t.Errorf("Secret(%s) in %s: %v", a, dir, err)
		}
	}
}

func TestAKeyInAFileStaysThereWhenAKeychainComes(t *testing.T) {
	dir := t.TempDir()
	ref := keep(t, inFile(dir), "github/work", "hunter2")
	mock(t)
	s := file.Open(dir, file.Options{})
	keep(t, s, "github/other", "hunter3")
	if got, err := s.Secret(t.Context(), ref); err != nil || got.Reveal() != "hunter2" {
		t.Errorf("Secret(%s): %v", ref, err)
	}
	if got, want := files(t, dir), "secrets.age secrets.key secrets.lock"; got != want {
		t.Errorf("files %s, want %s", got, want)
	}
}

func TestAKeyInTheKeychainIsNotReplacedWhenTheKeychainGoes(t *testing.T) {
	mock(t)
	dir := t.TempDir()
	ref := keep(t, file.Open(dir, file.Options{}), "github/work", "hunter2")
	name := strings.TrimSpace(string(must(os.ReadFile(filepath.Join(dir, "secrets.keychain")))))
	key := must(osring.Get("executor", name))

	second := t.TempDir()
	keep(t, file.Open(second, file.Options{}), "x", "y")
	other := must(osring.Get("executor", strings.TrimSpace(string(must(os.ReadFile(filepath.Join(second, "secrets.keychain")))))))

	for what, test := range map[string]struct {
		change func()
		off    bool
		msg    string
	}{
		"switched off":      {func() {}, true, "the key of the secrets is in the OS keychain, which is switched off"},
		"the entry is gone": {func() { osring.MockInit() }, false, "the key of the secrets is no longer in the OS keychain"},
		"the entry is no key": {func() { check(t, osring.Set("executor", name, "AGE-SECRET-KEY-1")) }, false,
			`the OS keychain's entry "` + name + `" of "executor" is not the key`},
		"the entry is another key": {func() { check(t, osring.Set("executor", name, other)) }, false,
			`the OS keychain's entry "` + name + `" of "executor" is not the key`},
		"locked": {func() { osring.MockInitWithError(errors.New("locked")) }, false, "the OS keychain, which has the key of the secrets, does not give it"},
	} {
		osring.MockInit()
		check(t, osring.Set("executor", name, key))
		test.change()
		s := file.Open(dir, file.Options{NoKeychain: test.off})
		_, err := s.Secret(t.Context(), ref)
		_, kept := s.Keep(t.Context(), "github/other", executor.NewSecret("v"))
		t.Run(what, func(t *testing.T) {
			refused(t, err, executor.Unavailable, test.msg)
			refused(t, kept, executor.Unavailable, test.msg)
			if got, want := files(t, dir), "secrets.age secrets.keychain secrets.lock"; got != want {
				t.Errorf("files %s, want %s", got, want)
			}
		})
	}
}

func TestAKeychainThatRefusesLeavesTheKeyInAFile(t *testing.T) {
	mock(t)
	osring.MockInitWithError(errors.New("no collection"))
	dir := t.TempDir()
	s := file.Open(dir, file.Options{})
	keep(t, s, "github/work", "hunter2")
	if got, want := s.Where(), "key file "+filepath.Join(dir, "secrets.key")+" (mode 0600)"; got != want {
		t.Errorf("Where() = %q, want %q", got, want)
	}
}

func TestTwoKeysAreRefused(t *testing.T) {
	mock(t)
	dir, other := t.TempDir(), t.TempDir()
	ref := keep(t, file.Open(dir, file.Options{}), "github/work", "hunter2")
	keep(t, inFile(other), "x", "y")
	check(t, os.Rename(filepath.Join(other, "secrets.key"), filepath.Join(dir, "secrets.key")))
	_, err := file.Open(dir, file.Options{}).Secret(t.Context(), ref)
	refused(t, err, executor.Unavailable, filepath.Join(dir, "secrets.key")+" and "+filepath.Join(dir, "secrets.keychain")+" both name a key")
}

func TestAKeychainIsNotAskedBeforeThereIsSomethingToEncrypt(t *testing.T) {
	mock(t)
	osring.MockInitWithError(errors.New("asked"))
	dir := t.TempDir()
	s := file.Open(dir, file.Options{})
	_, err := s.Secret(t.Context(), "file://none")
	refused(t, err, executor.NotFound, `no secret is kept under "none"`)
	if got := files(t, dir); got != "" {
		t.Errorf("files %s, want none", got)
	}
}
