package openapi

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/open-executor/executor"
)

const maxName = 128 // bytes; executor.ToolName

// toolNames names every operation. A name depends on the operation alone: its
// operationId, else its path and method. So adding or removing another operation
// changes no name. The exception cannot be avoided: where several operations bear
// one id, each of them, the first as well, has path and method appended, since a
// bare name that goes to whoever stands first would silently move to another
// operation when that one goes.
func toolNames(ops []operation) []executor.ToolName {
	names := make([]string, len(ops))
	count := map[string]int{}
	for i, op := range ops {
		names[i] = ownName(op)
		count[names[i]]++
	}
	for i, op := range ops {
		if count[names[i]] > 1 {
			names[i] = fitName(names[i]+"."+pathName(op), op)
		}
	}
	clear(count)
	for _, name := range names {
		count[name]++
	}
	for i, op := range ops {
		if count[names[i]] > 1 {
			names[i] = cutName(names[i], op)
		}
	}
	out := make([]executor.ToolName, len(ops))
	taken := map[string]bool{}
	for i := range names {
		for taken[names[i]] { // one method of one path described twice
			names[i] += "_"
		}
		taken[names[i]] = true
		out[i] = executor.ToolName(names[i])
	}
	return out
}

func ownName(op operation) string {
	id := op.own.str("operationId")
	if name := dotted(id); name != "" {
		return fitName(marked(name, id), op)
	}
	return fitName(pathName(op), op)
}

// pathName tells path and method: GET /v2/droplets/{id} is v2.droplets.by_id.get.
func pathName(op operation) string {
	path := strings.NewReplacer("{", "by_", "}", "").Replace(op.path)
	name := dotted(path)
	if name == "" {
		name = "root"
	}
	return marked(name, op.path) + "." + cmp.Or(dotted(strings.ToLower(op.method)), "call")
}

// marked ends name in a hash where it lost letters: without them names of two
// operations may be one, and each would depend on whether the other exists.
func marked(name, from string) string {
	foreign := func(r rune) bool { return r > unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsNumber(r)) }
	if !strings.ContainsFunc(from, foreign) {
		return name
	}
	return name + "_" + short(from)
}

// dotted makes a slash a dot and every other run of unusable characters one "_",
// and trims both ends of each segment.
func dotted(s string) string {
	var kept []string
	for segment := range strings.SplitSeq(strings.ReplaceAll(s, "/", "."), ".") {
		if segment = plainName(segment); segment != "" {
			kept = append(kept, segment)
		}
	}
	return strings.Join(kept, ".")
}

func fitName(name string, op operation) string {
	if len(name) <= maxName {
		return name
	}
	return cutName(name, op)
}

// cutName ends name in a hash of method and path.
func cutName(name string, op operation) string {
	name = strings.TrimRight(name[:min(len(name), maxName-9)], "._-")
	return name + "_" + short(op.method+" "+op.path)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
