package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/secret/file"
	"github.com/open-executor/executor/secret/secrettest"
)

// inFile is a store with its key in a file.
func inFile(dir string) *file.Store { return file.Open(dir, file.Options{NoKeychain: true}) }

func keep(t *testing.T, s *file.Store, name, value string) executor.SecretRef {
	t.Helper()
	ref, err := s.Keep(t.Context(), name, executor.NewSecret(value))
	if err != nil {
		t.Fatalf("Keep(%s): %v", name, err)
	}
	return ref
}

// refused checks that err is ours, of that code, with that message and a hint.
func refused(t *testing.T, err error, code executor.Code, msg string) {
	t.Helper()
	var e *executor.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want an *executor.Error", err)
	}
	if e.Code != code || e.Msg != msg || e.Hint == "" {
		t.Errorf("error %s %q (hint %q), want %s %q and a hint", e.Code, e.Msg, e.Hint, code, msg)
	}
}

func TestStoreIsAProvider(t *testing.T) {
	s := inFile(t.TempDir())
	secrettest.Run(t, s, keep(t, s, "github/work", "hunter2"), "hunter2", "file://github/other")
}

func TestStoreIsAKeeper(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "when", "needed")
	secrettest.RunKeeper(t, func() executor.Provider { return inFile(dir) })
}

func TestOpeningAndAskingMakeNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := file.Open(dir, file.Options{})
	_, err := s.Secret(t.Context(), "file://github/work")
	refused(t, err, executor.NotFound, `no secret is kept under "github/work"`)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory was made: %v", err)
	}
	if got, want := s.Where(), "nowhere yet: a key is made when the first secret is kept"; got != want {
		t.Errorf("Where() = %q, want %q", got, want)
	}
}

func TestNoValueIsOnDiskInClearAndNoFileIsOpenToOthers(t *testing.T) {
	dir := t.TempDir()
	s := inFile(dir)
	const value = "sk-live-4eC39HqLyjWDarjtT1zdp7dc"
	keep(t, s, "stripe/live", value)
	keep(t, s, "stripe/live", value+"-new")
	sealed, err := s.Seal([]byte(value))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte(value)) {
		t.Error("what is sealed holds the value")
	}
	if err := s.Forget(t.Context(), "file://none"); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, entry := range must(os.ReadDir(dir)) {
		path := filepath.Join(dir, entry.Name())
		got[entry.Name()] = must(os.Stat(path)).Mode().String()
		for _, clear := range []string{value, "c2stbGl2ZS00ZUMz", "stripe/live"} {
			if bytes.Contains(must(os.ReadFile(path)), []byte(clear)) {
				t.Errorf("%s holds %q in clear", entry.Name(), clear)
			}
		}
	}
	want := map[string]string{"secrets.age": "-rw-------", "secrets.key": "-rw-------", "secrets.lock": "-rw-------"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("files %v, want %v", got, want)
	}
	if got, want := s.Where(), "key file "+filepath.Join(dir, "secrets.key")+" (mode 0600)"; got != want {
		t.Errorf("Where() = %q, want %q", got, want)
	}
}

func TestAMissingKeyIsToldAndNotReplaced(t *testing.T) {
	dir := t.TempDir()
	ref := keep(t, inFile(dir), "github/work", "hunter2")
	key := must(os.ReadFile(filepath.Join(dir, "secrets.key")))
	check(t, os.Remove(filepath.Join(dir, "secrets.key")))
	before := must(os.ReadFile(filepath.Join(dir, "secrets.age")))

	s := inFile(dir)
	missing := "the key of the secrets in " + dir + " is missing"
	_, err := s.Secret(t.Context(), ref)
	refused(t, err, executor.Unavailable, missing)
	_, err = s.Keep(t.Context(), "github/work", executor.NewSecret("new"))
	refused(t, err, executor.Unavailable, missing)
	refused(t, s.Forget(t.Context(), ref), executor.Unavailable, missing)
	_, err = s.Seal([]byte("x"))
	refused(t, err, executor.Unavailable, missing)
	if got, want := s.Where(), "nowhere: the key is missing"; got != want {
		t.Errorf("Where() = %q, want %q", got, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "secrets.key")); err == nil || !bytes.Equal(before, must(os.ReadFile(filepath.Join(dir, "secrets.age")))) {
		t.Error("a key was made, or the secrets were changed")
	}

	check(t, os.WriteFile(filepath.Join(dir, "secrets.key"), key, 0o600))
	if got, err := s.Secret(t.Context(), ref); err != nil || got.Reveal() != "hunter2" {
		t.Errorf("with the key back: %v, want the secret", err)
	}
}

func TestAnotherKeyIsTold(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	s := inFile(dir)
	ref := keep(t, s, "github/work", "hunter2")
	sealed := must(s.Seal([]byte("args")))
	keep(t, inFile(other), "x", "y")
	check(t, os.Rename(filepath.Join(other, "secrets.key"), filepath.Join(dir, "secrets.key")))

	key := "key file " + filepath.Join(dir, "secrets.key") + " (mode 0600)"
	_, err := s.Secret(t.Context(), ref)
	refused(t, err, executor.Unavailable, filepath.Join(dir, "secrets.age")+" is encrypted with another key than the one in the "+key)
	_, err = s.Unseal(sealed)
	refused(t, err, executor.Unavailable, "it was sealed with another key")
}

func TestAKeyFileThatOthersMayReadIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := inFile(dir)
	ref := keep(t, s, "github/work", "hunter2")
	path := filepath.Join(dir, "secrets.key")
	for _, mode := range []fs.FileMode{0o644, 0o640, 0o604, 0o620, 0o666} {
		check(t, os.Chmod(path, mode))
		_, err := s.Secret(t.Context(), ref)
		refused(t, err, executor.Unavailable, fmt.Sprintf("key file %s is not its owner's alone (mode %04o)", path, mode))
	}
	check(t, os.Chmod(path, 0o600))
	if _, err := s.Secret(t.Context(), ref); err != nil {
		t.Errorf("with mode 0600: %v", err)
	}
	check(t, os.Remove(path))
	check(t, os.Mkdir(path, 0o700))
	if _, err := s.Secret(t.Context(), ref); executor.CodeOf(err) != executor.Unavailable {
		t.Errorf("with a directory for a key file: %v, want code %s", err, executor.Unavailable)
	}
}

func TestADamagedKeyFileIsToldWithoutItsText(t *testing.T) {
	dir := t.TempDir()
	s := inFile(dir)
	ref := keep(t, s, "github/work", "hunter2")
	path := filepath.Join(dir, "secrets.key")
	for _, text := range []string{"", "AGE-SECRET-KEY-1NOTONE", "garbage\n", string(must(os.ReadFile(path)))[:200]} {
		check(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := s.Secret(t.Context(), ref)
		refused(t, err, executor.Unavailable, "key file "+path+" does not hold one age key")
		if strings.Contains(err.Error(), "AGE-SECRET") {
			t.Error("the error quotes the key")
		}
	}
}

func TestADamagedStoreIsToldAndLeftAlone(t *testing.T) {
	dir := t.TempDir()
	s := inFile(dir)
	ref := keep(t, s, "github/work", "hunter2")
	path := filepath.Join(dir, "secrets.age")
	whole := must(os.ReadFile(path))
	flipped := slices.Clone(whole)
	flipped[len(flipped)-1] ^= 1
	header := slices.Clone(whole)
	header[30] ^= 1
	for name, content := range map[string][]byte{
		"empty": {}, "torn in the header": whole[:40], "torn in the text": whole[:len(whole)-7],
		"a bit flipped in the text": flipped, "a bit flipped in the header": header, "garbage": []byte("{\"github/work\":\"x\"}"), "longer": append(slices.Clone(whole), 'x'),
		"what was sealed": must(s.Seal([]byte(`{"version":1,"secrets":{}}`))),
	} {
		check(t, os.WriteFile(path, content, 0o600))
		_, err := s.Secret(t.Context(), ref)
		if code := executor.CodeOf(err); code != executor.Internal && code != executor.Unavailable {
			t.Errorf("%s: %v, want code %s or %s", name, err, executor.Internal, executor.Unavailable)
		}
		if _, err := s.Keep(t.Context(), "github/work", executor.NewSecret("new")); err == nil {
			t.Errorf("%s: keeping is possible", name)
		}
		if !bytes.Equal(content, must(os.ReadFile(path))) {
			t.Errorf("%s: the file was changed", name)
		}
	}
	check(t, os.WriteFile(path, whole, 0o600))
	if got, err := s.Secret(t.Context(), ref); err != nil || got.Reveal() != "hunter2" {
		t.Errorf("with the whole file back: %v, want the secret", err)
	}
}

func TestNamesAndSizesAreBounded(t *testing.T) {
	s := inFile(t.TempDir())
	for _, name := range []string{"a", "0", "github/work", "a.b_c-d/e", strings.Repeat("n", 128)} {
		if ref := keep(t, s, name, "v"); ref != executor.SecretRef("file://"+name) {
			t.Errorf("Keep(%s) = %s", name, ref)
		}
	}
	for _, name := range []string{"A", "/a", ".a", "-a", "_a", "../a", "a\\b", "é", strings.Repeat("n", 129)} {
		_, err := s.Keep(t.Context(), name, executor.NewSecret("v"))
		refused(t, err, executor.Invalid, fmt.Sprintf("secret name %q is not usable", name))
	}
	largest := strings.Repeat("\xff", 64<<10)
	if got, err := s.Secret(t.Context(), keep(t, s, "largest", largest)); err != nil || got.Reveal() != largest {
		t.Errorf("64 KiB: %v, want what was kept", err)
	}
	_, err := s.Keep(t.Context(), "larger", executor.NewSecret(largest+"x"))
	refused(t, err, executor.Invalid, `the secret "larger" has 65537 bytes; at most 65536 can be kept`)
}

func TestWhatIsSealedIsUnsealedByTheNextProcessOnly(t *testing.T) {
	dir := t.TempDir()
	for _, plain := range [][]byte{nil, []byte(`{"card":"4242"}`), bytes.Repeat([]byte{0, 0xff}, 1<<20)} {
		sealed, err := inFile(dir).Seal(plain)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := inFile(dir).Unseal(sealed); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("Unseal = %d bytes, %v, want %d", len(got), err, len(plain))
		}
		sealed[len(sealed)-1] ^= 1
		_, err = inFile(dir).Unseal(sealed)
		refused(t, err, executor.Internal, "what was sealed is damaged")
	}
	s := inFile(dir)
	keep(t, s, "a", "b")
	_, err := s.Unseal(must(os.ReadFile(filepath.Join(dir, "secrets.age"))))
	refused(t, err, executor.Internal, "what was sealed is damaged")
}

// A child process of the next test keeps ten secrets.
const childDir = "EXECUTOR_TEST_SECRETS_DIR"

func TestSeveralProcessesKeepAtOnceAndLoseNothing(t *testing.T) {
	if dir := os.Getenv(childDir); dir != "" {
		for i := range 10 {
			keep(t, inFile(dir), fmt.Sprintf("%s/%d", os.Getenv(childDir+"_NAME"), i), "v")
		}
		return
	}
	dir := t.TempDir()
	var children []*exec.Cmd
	var said [4]bytes.Buffer
	for i := range 4 {
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), childDir+"="+dir, fmt.Sprintf("%s_NAME=child-%d", childDir, i))
		c.Stdout = &said[i]
		check(t, c.Start())
		children = append(children, c)
	}
	for i, c := range children {
		if err := c.Wait(); err != nil {
			t.Fatalf("child %d: %v\n%s", i, err, said[i].String())
		}
	}
	for i := range 4 {
		for j := range 10 {
			ref := executor.SecretRef(fmt.Sprintf("file://child-%d/%d", i, j))
			if _, err := inFile(dir).Secret(t.Context(), ref); err != nil {
				t.Errorf("Secret(%s): %v", ref, err)
			}
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
