package condition_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/condition"
)

var facts = executor.Facts{
	Address:   executor.Address{Source: "stripe", Scope: "user", Connection: "live", Tool: "disputes.close"},
	Args:      json.RawMessage(`{"amount":1200,"rate":0.5,"whole":5.0,"big":1e3,"huge":9223372036854775808,"beyond":1e999,"minus":-3,"note":"refund for acme","tags":["a","b"],"deep":{"er":[{"n":7}]},"none":null,"yes":true,"odd key":1}`),
	Principal: executor.Principal{Kind: executor.Agent, ID: "firewall-monitor"},
	Labels:    []executor.Label{"personal", "source:stripe"},
	Effect:    executor.Write,
}

func TestAConditionLooksAtTheFacts(t *testing.T) {
	for expr, want := range map[string]bool{
		`true`:                                      true,
		`args.amount > 1000`:                        true,
		`args.amount > 1200.5`:                      false,
		`args.amount == 1200`:                       true,
		`type(args.amount) == int`:                  true,
		`type(args.rate) == double`:                 true,
		`type(args.whole) == int`:                   true,
		`args.whole == 5 && args.big == 1000`:       true,
		`type(args.huge) == double`:                 true,
		`args.beyond > 1.0`:                         true,
		`args.minus < 0`:                            true,
		`args.rate < 1`:                             true,
		`args.note.contains("acme")`:                true,
		`args.note.matches("^refund for \\w+$")`:    true,
		`args["odd key"] == 1`:                      true,
		`"a" in args.tags && size(args.tags) == 2`:  true,
		`args.deep.er[0].n == 7`:                    true,
		`args.deep.er.exists(e, e.n > 6)`:           true,
		`args.none == null`:                         true,
		`args.yes == true`:                          true,
		`has(args.missing)`:                         false,
		`has(args.missing) && args.missing > 1`:     false,
		`args.amount > 1000 || args.missing > 1`:    true,
		`principal.kind == "agent"`:                 true,
		`principal.id.startsWith("firewall-")`:      true,
		`"personal" in labels`:                      true,
		`labels.exists(l, l.startsWith("source:"))`: true,
		`effect == "write"`:                         true,
		`effect in ["destroy", "read"]`:             false,
		`address.source == "stripe" && address.scope == "user" && address.connection == "live" && address.tool == "disputes.close"`: true,
		`address.text == "stripe.user.live.disputes.close"`:                                                                         true,
	} {
		c, err := condition.Compile(expr)
		if err != nil {
			t.Errorf("Compile(%s): %v", expr, err)
			continue
		}
		if got, err := c.Holds(facts); got != want || err != nil {
			t.Errorf("Holds(%s) = %v, %v, want %v", expr, got, err, want)
		}
	}
}

func TestAnUnknownEffectCountsAsWriteAndAbsentArgumentsAreEmpty(t *testing.T) {
	c, err := condition.Compile(`effect == "write" && size(args) == 0 && labels == [] && principal.id == ""`)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Holds(executor.Facts{}); !got || err != nil {
		t.Errorf("Holds = %v, %v, want true", got, err)
	}
}

func TestWhatIsNotAConditionIsInvalidAndSaysWhere(t *testing.T) {
	const names = "a condition knows args, labels, effect, principal.kind, principal.id and address.source, .scope, .connection, .tool, .text"
	for _, test := range []struct{ expr, msg, hint string }{
		{`amount > 5`, "the condition is wrong at column 1: undeclared reference to 'amount'", names},
		{`args.amount > 5 && principal.name == "x"`, "the condition is wrong at column 29: undeclared reference to 'principal.name' (did you mean 'principal.id' or 'principal.kind'?)", names},
		{"true &&\n  args.amount > 5 && adress.tool == \"x\"", "the condition is wrong at line 2, column 28: undeclared reference to 'adress.tool' (did you mean 'address.tool'?)", names},
		{`effect == 5`, "the condition is wrong at column 8: found no matching overload for '_==_' applied to '(string, int)'", "compare values of one type: text in quotes, numbers without"},
		{`args.urgent`, "the condition gives a value of any type at column 1, not true or false", "compare it with something, for example args.urgent == true"},
		{`1 + 1`, "the condition gives a value of type int at column 1, not true or false", "compare it with something, for example args.urgent == true"},
		{`effect.matches("(")`, "the condition is wrong at column 16: invalid matches argument", "write a regular expression of RE2 (github.com/google/re2/wiki/Syntax)"},
	} {
		_, err := condition.Compile(test.expr)
		var e *executor.Error
		if !errors.As(err, &e) {
			t.Errorf("Compile(%s): %v, want an *executor.Error", test.expr, err)
			continue
		}
		if e.Code != executor.Invalid || e.Op != "condition" || e.Msg != test.msg || e.Hint != test.hint {
			t.Errorf("Compile(%s) = %s %q, %q, want %q, %q", test.expr, e.Code, e.Msg, e.Hint, test.msg, test.hint)
		}
	}
	for _, expr := range []string{"", " ", "args.", "a b", `"open`, "args.x ==", "(((", strings.Repeat("(", 500) + "true" + strings.Repeat(")", 500), strings.Repeat("!", 5000) + "true", "\x00", "\xff", `args.all(x,`, `timestamp("yesterday") < timestamp("2030-01-01T00:00:00Z")`} {
		_, err := condition.Compile(expr)
		var e *executor.Error
		if !errors.As(err, &e) || e.Code != executor.Invalid || !strings.Contains(e.Msg, "column") || e.Hint == "" {
			t.Errorf("Compile(%.40q) = %v, want code %s, a column and a hint", expr, err, executor.Invalid)
		}
	}
}

func TestWhatIsAbsentIsAnErrorThatNamesIt(t *testing.T) {
	c, err := condition.Compile(`args.missing > 5`)
	if err != nil {
		t.Fatal(err)
	}
	holds, err := c.Holds(facts)
	var e *executor.Error
	if !errors.As(err, &e) || holds {
		t.Fatalf("Holds = %v, %v, want an *executor.Error", holds, err)
	}
	if want := `the condition "args.missing > 5" looks at "missing", which is absent`; e.Code != executor.Invalid || e.Msg != want || e.Hint == "" {
		t.Errorf("Holds: %s %q, want %s %q", e.Code, e.Msg, executor.Invalid, want)
	}
}

func TestAnErrorHoldsNoValueOfTheArguments(t *testing.T) {
	secret := executor.Facts{Args: json.RawMessage(`{"token":"hunter2","map":{"a":1},"list":[1],"n":0}`)}
	for _, expr := range []string{
		`int(args.token) > 5`, `args.map[args.token] == 1`, `args.token > 5`, `args.list[7] == 1`, `1 / args.n == 1`,
		`timestamp(args.token) < timestamp("2030-01-01T00:00:00Z")`, `duration(args.token) < duration("1s")`, `"x".matches("(" + args.token)`, `args.token.name == 1`,
	} {
		c, err := condition.Compile(expr)
		if err != nil {
			t.Errorf("Compile(%s): %v", expr, err)
			continue
		}
		_, err = c.Holds(secret)
		if executor.CodeOf(err) != executor.Invalid || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Holds(%s): %v, want code %s without the value", expr, err, executor.Invalid)
		}
	}
	c, err := condition.Compile("true")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{`"hunter2"`, `[1]`, `{"token":"hunter2"`, `null`} {
		if _, err := c.Holds(executor.Facts{Args: json.RawMessage(args)}); executor.CodeOf(err) != executor.Invalid || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Holds with arguments %s: %v, want code %s without the value", args, err, executor.Invalid)
		}
	}
}

func TestAConditionThatTakesTooLongIsAnError(t *testing.T) {
	c, err := condition.Compile(`args.list.all(a, args.list.all(b, args.list.all(c, a + b + c >= 0)))`)
	if err != nil {
		t.Fatal(err)
	}
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 2000), ",") + "]"
	_, err = c.Holds(executor.Facts{Args: json.RawMessage(`{"list":` + list + `}`)})
	if executor.CodeOf(err) != executor.Invalid || !strings.Contains(err.Error(), "takes too long") {
		t.Errorf("Holds = %v, want one that takes too long", err)
	}
}

func TestManyMayCompileAndAskAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			c, err := condition.Compile(fmt.Sprintf(`args.amount > %d`, 1195+i%8))
			if err != nil {
				t.Errorf("Compile: %v", err)
				return
			}
			if got, err := c.Holds(facts); got != (i%8 < 5) || err != nil {
				t.Errorf("Holds(args.amount > %d) = %v, %v", 1195+i%8, got, err)
			}
		})
	}
	wg.Wait()
}

func TestTheSameExpressionIsCompiledOnce(t *testing.T) {
	one, err := condition.Compile(`args.once == 1`)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := condition.Compile(`args.once == 1`); err != nil || one != two {
		t.Errorf("Compile gives another condition the second time: %v", err)
	}
	for i := range 3000 { // more than are kept
		if _, err := condition.Compile(fmt.Sprintf("args.n == %d", i)); err != nil {
			t.Fatal(err)
		}
	}
}
