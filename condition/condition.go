// Package condition compiles the conditions of policy rules. A condition is an
// expression of CEL, the Common Expression Language, that is true or false:
//
//	args.amount > 1000 && !("finance" in labels)
//
// It sees:
//
//	args                  the call's arguments; whole numbers are int, others double
//	principal.kind, .id   who asks
//	labels                of the tool; a list of strings
//	effect                "read", "write" or "destroy"; unknown counts as "write"
//	address.source, .scope, .connection, .tool, and the whole as address.text
//
// It sees no clock, no network and no files, so it gives the same answer for the
// same call. Regular expressions are RE2's.
//
// The package imports executor and cel-go. What an error of a condition means
// for the call is the executor's to decide.
package condition

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"cel.dev/cel-go/cel"

	"github.com/open-executor/executor"
)

const (
	maxLength = 4096                   // characters of an expression
	maxDepth  = 64                     // of brackets and calls in one another
	maxCost   = 1_000_000              // CEL's own units; about 50 ms
	maxTime   = 250 * time.Millisecond // for what the units do not count well
	maxCached = 1024                   // programs
)

// Compile gives the condition that expr describes. The same expr gives the same
// condition, at no further cost. What is not a condition is Invalid, and says at
// which column. Safe for concurrent use, as is what it gives.
func Compile(expr string) (executor.Condition, error) {
	if c, ok := compiled.get(expr); ok {
		return c, nil
	}
	c, err := compile(expr)
	if err != nil {
		return nil, err
	}
	compiled.put(expr, c)
	return c, nil
}

// environment is made when the first condition is compiled: it takes longer than
// the program may take to start.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable("args", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("principal.kind", cel.StringType),
		cel.Variable("principal.id", cel.StringType),
		cel.Variable("labels", cel.ListType(cel.StringType)),
		cel.Variable("effect", cel.StringType),
		cel.Variable("address.text", cel.StringType),
		cel.Variable("address.source", cel.StringType),
		cel.Variable("address.scope", cel.StringType),
		cel.Variable("address.connection", cel.StringType),
		cel.Variable("address.tool", cel.StringType),
		cel.CrossTypeNumericComparisons(true), // args.amount > 10 is meant for 10.5 too
		cel.ParserExpressionSizeLimit(maxLength),
		cel.ParserRecursionLimit(maxDepth),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals()),
	)
})

func compile(expr string) (*condition, error) {
	env, err := environment()
	if err != nil {
		return nil, &executor.Error{Code: executor.Internal, Op: "condition", Msg: "the condition language does not start", Err: err}
	}
	ast, issues := env.Compile(expr)
	if issues.Err() != nil {
		return nil, rejected(expr, issues)
	}
	if got := ast.OutputType(); !got.IsExactType(cel.BoolType) {
		return nil, &executor.Error{
			Code: executor.Invalid, Op: "condition",
			Msg:  fmt.Sprintf("the condition gives %s at column 1, not true or false", typeName(got)),
			Hint: "compare it with something, for example args.urgent == true",
		}
	}
	program, err := env.Program(ast, cel.CostLimit(maxCost), cel.InterruptCheckFrequency(64), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, &executor.Error{
			Code: executor.Invalid, Op: "condition", Err: err,
			Msg: "the condition cannot be prepared", Hint: "check constants and regular expressions in it",
		}
	}
	return &condition{expr, program}, nil
}

func typeName(t *cel.Type) string {
	if t.IsExactType(cel.DynType) {
		return "a value of any type"
	}
	return "a value of type " + t.String()
}

// rejected tells the first thing that is wrong with expr.
func rejected(expr string, issues *cel.Issues) error {
	first := issues.Errors()[0]
	msg, _, _ := strings.Cut(first.Message, "\n")
	msg = strings.TrimSuffix(msg, " (in container '')")
	where := fmt.Sprintf("column %d", max(first.Location.Column(), 0)+1)
	if first.Location.Line() > 1 {
		where = fmt.Sprintf("line %d, %s", first.Location.Line(), where)
	}
	return &executor.Error{
		Code: executor.Invalid, Op: "condition",
		Msg:  fmt.Sprintf("the condition is wrong at %s: %s", where, msg),
		Hint: advice(expr, msg),
	}
}

func advice(expr, msg string) string {
	switch {
	case strings.HasPrefix(msg, "undeclared reference to"):
		return "a condition knows args, labels, effect, principal.kind, principal.id and address.source, .scope, .connection, .tool, .text"
	case strings.Contains(msg, "no matching overload"):
		return "compare values of one type: text in quotes, numbers without"
	case strings.Contains(msg, "invalid matches argument"):
		return "write a regular expression of RE2 (github.com/google/re2/wiki/Syntax)"
	case strings.TrimSpace(expr) == "":
		return "leave the condition out where the rule always applies"
	case strings.Contains(expr, "'") || strings.Contains(expr, `"`):
		return `close every quote and bracket; for example: args.state == "closed" && args.amount > 100`
	}
	return `write for example: args.state == "closed" && args.amount > 100; the language is CEL (cel.dev)`
}

type condition struct {
	expr    string
	program cel.Program
}

// Holds implements executor.Condition. Its errors hold no value of the
// arguments.
func (c *condition) Holds(facts executor.Facts) (bool, error) {
	vars, err := variables(facts)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxTime)
	defer cancel()
	out, _, err := c.program.ContextEval(ctx, vars)
	if err != nil {
		return false, &executor.Error{
			Code: executor.Invalid, Op: "condition",
			Msg:  c.reason(err),
			Hint: "test for what may be absent, for example has(args.amount) && args.amount > 100",
		}
	}
	holds, ok := out.Value().(bool)
	if !ok {
		return false, &executor.Error{Code: executor.Internal, Op: "condition", Msg: fmt.Sprintf("the condition %q gave no bool", c.expr)}
	}
	return holds, nil
}

// reason tells what went wrong in words that come from the expression alone:
// cel-go's own may quote an argument.
func (c *condition) reason(err error) string {
	text := err.Error()
	key, missing := strings.CutPrefix(text, "no such key: ")
	switch {
	case missing && strings.Contains(c.expr, key):
		return fmt.Sprintf("the condition %q looks at %q, which is absent", c.expr, key)
	case missing:
		return fmt.Sprintf("the condition %q looks at something that is absent", c.expr)
	case strings.Contains(text, "cost limit"), strings.Contains(text, "interrupted"):
		return fmt.Sprintf("the condition %q takes too long", c.expr)
	}
	return fmt.Sprintf("the condition %q meets a value that it cannot work with", c.expr)
}

// A cache keeps compiled conditions. When it is full it begins anew: rules are
// few, and only a program that makes them up by the thousand gets there.
type cache struct {
	mu     sync.Mutex
	byExpr map[string]*condition
}

var compiled = cache{byExpr: map[string]*condition{}}

func (c *cache) get(expr string) (*condition, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.byExpr[expr]
	return found, ok
}

func (c *cache) put(expr string, made *condition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byExpr) >= maxCached {
		clear(c.byExpr)
	}
	c.byExpr[expr] = made
}
