//go:build unix

package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// servers are upstreams that nobody here wrote. Each is started when the first
// story wants it and stopped, by process id, when all stories have been told.
type servers struct {
	dir   string // for their data and logs
	cache string // what make install-tools has put there

	mu      sync.Mutex
	running map[string]running
}

type running struct {
	base string
	cmd  *exec.Cmd
}

// A recipe starts a server on a loopback port of our choice.
type recipe struct {
	needs []string // files below the cache, or programs
	env   []string
	args  func(cache, dir string, port int) []string
}

func onPort(format string, port int) string { return fmt.Sprintf(format, port) }

var recipes = map[string]recipe{
	// Vercel's emulation of GitHub: keeps state, knows the token test_token_admin.
	"emulate": {
		needs: []string{"npm/node_modules/emulate/dist/index.js", "npm/node_modules/node/bin/node", "specs/github.json"},
		args: func(cache, _ string, port int) []string {
			return []string{
				filepath.Join(cache, "npm/node_modules/node/bin/node"),
				filepath.Join(cache, "npm/node_modules/emulate/dist/index.js"),
				"start", "--service", "github", "--port", onPort("%d", port),
			}
		},
	},
	// Stripe's own mock: keeps nothing, checks every request against the description.
	"stripe": {
		needs: []string{"bin/stripe-mock", "specs/stripe.json"},
		args: func(cache, _ string, port int) []string {
			return []string{filepath.Join(cache, "bin/stripe-mock"), "-http-addr", onPort("127.0.0.1:%d", port)}
		},
	},
	// A database with a JSON gateway; bytes travel in base64.
	"etcd": {
		needs: []string{"etcd", "specs/etcd.json"},
		args: func(_, dir string, port int) []string {
			client, peer := onPort("http://127.0.0.1:%d", port), "http://127.0.0.1:0"
			return []string{
				"etcd", "--data-dir", dir, "--listen-client-urls", client, "--advertise-client-urls", client,
				"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer,
			}
		},
	},
	// File operations over JSON, multipart uploads, basic auth.
	"rclone": {
		needs: []string{"rclone"},
		env:   []string{"RCLONE_RC_PASS=" + canaries["CANARY_PASSWORD"]},
		args: func(_, dir string, port int) []string {
			return []string{"rclone", "rcd", "--rc-addr", onPort("127.0.0.1:%d", port), "--rc-user", "canary", "--config", filepath.Join(dir, "none")}
		},
	},
	// Files as raw bytes in both directions, basic auth.
	"webdav": {
		needs: []string{"rclone"},
		env:   []string{"RCLONE_PASS=" + canaries["CANARY_PASSWORD"]},
		args: func(_, dir string, port int) []string {
			return []string{"rclone", "serve", "webdav", "--addr", onPort("127.0.0.1:%d", port), "--user", "canary", "--config", filepath.Join(dir, "none"), dir}
		},
	},
	// GitHub's own description, for stories that call nothing.
	"github-description": {needs: []string{"specs/github.json"}},
}

// there tells whether a server can be started.
func (s *servers) there(name string) error {
	r, ok := recipes[name]
	if !ok {
		return fmt.Errorf("nobody knows the server %q", name)
	}
	for _, need := range r.needs {
		_, err := os.Stat(filepath.Join(s.cache, need))
		if err != nil && filepath.Base(need) == need {
			_, err = exec.LookPath(need)
		}
		if err != nil {
			return fmt.Errorf("%s for %s is not installed", need, name)
		}
	}
	return nil
}

// start gives the base URL of a server that runs.
func (s *servers) start(name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.running[name]; ok {
		return r.base, nil
	}
	if err := s.there(name); err != nil {
		return "", err
	}
	port, err := freePort()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(s.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	log, err := os.Create(dir + ".log")
	if err != nil {
		return "", err
	}
	defer log.Close()
	args := recipes[name].args(s.cache, dir, port)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, recipes[name].env...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		return "", err
	}
	base := onPort("http://127.0.0.1:%d", port)
	if s.running == nil {
		s.running = map[string]running{}
	}
	s.running[name] = running{base, cmd}
	return base, answers(base, name, log.Name())
}

// answers waits until something answers at base.
func answers(base, name, log string) error {
	late := time.After(patience)
	for {
		resp, err := http.Get(base + "/")
		if err == nil {
			return resp.Body.Close()
		}
		select {
		case <-late:
			said, _ := os.ReadFile(log) // the error is told all the same
			return fmt.Errorf("%s does not answer: %w\n%s", name, err, said)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (s *servers) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.running {
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		_ = r.cmd.Wait()                                      // says only that it was killed
	}
}
