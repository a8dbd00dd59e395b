// Command executor is the program: it takes its environment, puts together what
// the command line works with, and hands over. It imports everything, and does
// nothing itself but the wiring.
package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/cli"
	"github.com/open-executor/executor/condition"
	"github.com/open-executor/executor/egress"
	"github.com/open-executor/executor/sample"
	secrets "github.com/open-executor/executor/secret/all"
	"github.com/open-executor/executor/source/all"
	"github.com/open-executor/executor/storage/file"
)

// Set by the linker; the build's own notes stand in where they are empty.
var version, commit string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx)
	stop()
	os.Exit(code)
}

func run(ctx context.Context) int {
	home, err := dataDirectory()
	if err != nil {
		_, _ = os.Stderr.WriteString("error: " + err.Error() + "\n") // nobody else can be told
		return 1
	}
	h := installation{home}
	return cli.Main(ctx, cli.Config{
		Args: os.Args[1:], Env: os.Environ(), In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Version: cli.Built(version, commit), Home: home, Person: person(),
		Open: h.open, Resolve: h.resolve, Check: h.check,
		Sample: cli.Sample{Config: sampleConfig, Serve: func(ctx context.Context, listen string, ready func(string)) error {
			return sample.New().Serve(ctx, listen, ready)
		}},
	})
}

// An installation is what lies in a data directory. Nothing is opened or made
// before a method is called.
type installation struct{ home string }

// lockWait is how long a command waits for another to be done with the directory.
const lockWait = 10 * time.Second

func (h installation) open(ctx context.Context, p executor.Principal) (*executor.Executor, func() error, error) {
	if stat, err := os.Stat(h.home); err == nil && !stat.IsDir() {
		return nil, nil, &executor.Error{
			Code: executor.Invalid, Op: "open", Msg: "the data directory " + h.home + " is not a directory",
			Hint: "move it away, or set EXECUTOR_HOME to a directory",
		}
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	storage, err := file.Open(h.home, file.Options{Wait: lockWait, Log: log})
	if err != nil {
		return nil, nil, err
	}
	e, err := h.executor(storage, p)
	if err == nil {
		_, err = e.Recover(ctx) // whoever left a run running is gone: the directory was free
	}
	if err != nil {
		_ = storage.Close() // the first error counts
		return nil, nil, err
	}
	return e, storage.Close, nil
}

func (h installation) executor(storage executor.Storage, p executor.Principal) (*executor.Executor, error) {
	providers, store := secrets.Providers(h.home, keychain())
	shop := sample.Open(filepath.Join(h.home, "sample.json"))
	return executor.New(executor.Config{
		Kinds:      all.Kinds(),
		Providers:  providers,
		Storage:    storage,
		Principal:  p,
		Transport:  func(private bool) http.RoundTripper { return shop.Transport(egress.Transport(private)) },
		Conditions: condition.Compile,
		Sealer:     store,
	})
}

// keychain tells whether the system's keychain may be asked.
func keychain() bool { return os.Getenv("EXECUTOR_KEYCHAIN") != "off" }

// resolve tells whether a reference leads to a secret.
func (h installation) resolve(ctx context.Context, ref executor.SecretRef) error {
	providers, _ := secrets.Providers(h.home, keychain())
	for _, p := range providers {
		if p.Scheme() == ref.Scheme() {
			_, err := p.Secret(ctx, ref)
			return err
		}
	}
	var schemes []string
	for _, p := range providers {
		schemes = append(schemes, p.Scheme()+"://")
	}
	return &executor.Error{
		Code: executor.Invalid, Op: "secret", Msg: "nothing here resolves " + ref.Scheme() + "://",
		Hint: "use one of: " + strings.Join(schemes, ", "),
	}
}

func sampleConfig() json.RawMessage {
	config, err := json.Marshal(map[string]string{"text": string(sample.Description())})
	if err != nil {
		panic(err) // two strings always encode
	}
	return config
}

// person gives the name of the user, for the record.
func person() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "owner"
}
