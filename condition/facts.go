package condition

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/open-executor/executor"
)

// variables gives facts under the names that expressions use.
func variables(f executor.Facts) (map[string]any, error) {
	args, err := arguments(f.Args)
	if err != nil {
		return nil, err
	}
	labels := make([]string, len(f.Labels))
	for i, label := range f.Labels {
		labels[i] = string(label)
	}
	effect := f.Effect
	if effect != executor.Read && effect != executor.Destroy {
		effect = executor.Write
	}
	return map[string]any{
		"args":               args,
		"principal.kind":     string(f.Principal.Kind),
		"principal.id":       f.Principal.ID,
		"labels":             labels,
		"effect":             string(effect),
		"address.text":       f.Address.String(),
		"address.source":     string(f.Address.Source),
		"address.scope":      string(f.Address.Scope),
		"address.connection": string(f.Address.Connection),
		"address.tool":       string(f.Address.Tool),
	}, nil
}

// arguments reads a JSON object; none is an empty one.
func arguments(raw json.RawMessage) (map[string]any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return map[string]any{}, nil
	}
	var args map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&args); err != nil || args == nil {
		return nil, &executor.Error{
			Code: executor.Invalid, Op: "condition", // the cause is left out: it may quote an argument
			Msg: "the arguments are not a JSON object", Hint: "give the arguments as an object",
		}
	}
	for name, v := range args {
		args[name] = plain(v)
	}
	return args, nil
}

// plain changes the numbers in v, in place where v is a list or an object.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = plain(v[name])
		}
	}
	return v
}

// number gives an int where n is whole and fits, also when it is written as 5.0
// or 1e3, else a double. What is too large for a double is infinite.
func number(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return i
	}
	f, err := n.Float64()
	const exact = 1 << 53 // beyond, a double does not tell whole numbers apart
	if err == nil && f == math.Trunc(f) && math.Abs(f) <= exact {
		return int64(f)
	}
	return f // strconv gives ±Inf beside its range error
}
