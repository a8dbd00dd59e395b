package openapi

import (
	"context"
	"encoding/json"

	"github.com/open-executor/executor"
)

// Kind is the source kind "openapi". The zero value is ready; safe for concurrent
// use.
type Kind struct{}

// Name gives "openapi".
func (Kind) Name() string { return "openapi" }

// Resolve reads the description once and compiles every operation of it into a
// tool. What is broken in one place costs that place only, and a Note; only what is
// no API description at all is an error.
func (Kind) Resolve(ctx context.Context, src executor.Source, cred executor.Credential) (executor.Manifest, error) {
	cfg, err := readConfig(src.Config)
	if err != nil {
		return executor.Manifest{}, err
	}
	l := &loader{ctx: ctx, client: cred.Client()}
	defer l.close()
	doc, err := l.open(cfg)
	if err != nil {
		return executor.Manifest{}, err
	}
	c := &compiler{loader: l, cfg: cfg, doc: doc.root(), hosts: map[string]bool{}}
	return c.compile()
}

// config is Source.Config of this kind.
type config struct {
	Spec      string            `json:"spec"`                // URL or absolute file path
	Text      string            `json:"text,omitempty"`      // the description itself
	Base      string            `json:"base,omitempty"`      // instead of the description's servers
	Variables map[string]string `json:"variables,omitempty"` // for the blanks of the servers
}

func readConfig(raw json.RawMessage) (config, error) {
	var cfg config
	if err := json.Unmarshal(raw, &cfg); err != nil {
		e := invalid("the source's config is not usable", `write {"spec": "https://…"}`)
		e.Err = err
		return cfg, e
	}
	if cfg.Spec == "" && cfg.Text == "" {
		return cfg, invalid("the source's config names no description", `write {"spec": "https://…"} or give the description as "text"`)
	}
	if cfg.Base != "" {
		base, err := absolute(cfg.Base)
		if err != nil {
			return cfg, err
		}
		cfg.Base = base
	}
	return cfg, nil
}
