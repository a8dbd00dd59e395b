package file_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/secret/file"
)

// The real D-Bus client hangs on a bus that accepts and says nothing. It is asked
// in a child process, which no other test has given a stand-in.
func TestABusThatHangsDoesNotHangUs(t *testing.T) {
	const child = "EXECUTOR_TEST_HANGING_BUS"
	if dir := os.Getenv(child); dir != "" {
		s := file.Open(dir, file.Options{KeychainWait: 20 * time.Millisecond})
		ref := keep(t, s, "github/work", "hunter2")
		if got, err := s.Secret(t.Context(), ref); err != nil || got.Reveal() != "hunter2" {
			t.Errorf("Secret(%s): %v", ref, err)
		}
		if got, want := s.Where(), "key file "+filepath.Join(dir, "secrets.key")+" (mode 0600)"; got != want {
			t.Errorf("Where() = %q, want %q", got, want)
		}
		// A key that is in the keychain is waited for, and not for ever.
		check(t, os.Rename(filepath.Join(dir, "secrets.key"), filepath.Join(dir, "kept.key")))
		check(t, os.WriteFile(filepath.Join(dir, "secrets.keychain"), []byte("age1\n"), 0o600))
		_, err := s.Secret(t.Context(), ref)
		refused(t, err, executor.Unavailable, "the OS keychain, which has the key of the secrets, does not answer")
		return
	}
	bus := filepath.Join(must(os.MkdirTemp("", "bus")), "bus") // a short path: sockets allow 107 bytes
	defer os.RemoveAll(filepath.Dir(bus))
	listener := must(net.Listen("unix", bus))
	defer listener.Close()
	reached := make(chan struct{}, 16)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			reached <- struct{}{}
		}
	}()
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), child+"="+t.TempDir(), "DBUS_SESSION_BUS_ADDRESS=unix:path="+bus)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	select {
	case <-reached:
	default:
		t.Error("the bus was not asked")
	}
}
