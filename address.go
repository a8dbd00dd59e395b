package executor

import (
	"fmt"
	"strings"
)

// The parts of an address travel as types of their own, so that none can stand
// where another belongs.
type (
	SourceID       string // lower-case letters, digits, "-" and "_"; 1 to 63 characters
	ScopeID        string // as SourceID
	ConnectionName string // as SourceID
	ToolName       string // letters, digits, "_", "-" and "."; 1 to 128 characters; no empty segment between dots
)

// An Address names one tool as one account sees it:
//
//	<source>.<scope>.<connection>.<tool>
//
// It is always whole: there is no default account and no short form. The tool
// name may contain dots.
type Address struct {
	Source     SourceID
	Scope      ScopeID
	Connection ConnectionName
	Tool       ToolName
}

// ParseAddress reads the dotted form. Anything else is Invalid.
func ParseAddress(s string) (Address, error) {
	parts := strings.SplitN(s, ".", 4)
	if len(parts) < 4 {
		return Address{}, &Error{
			Code: Invalid, Op: "address",
			Msg:  fmt.Sprintf("address %q has %d of 4 parts", s, len(parts)),
			Hint: "write <source>.<scope>.<connection>.<tool>, for example sample.user.public.pets.list",
		}
	}
	a := Address{SourceID(parts[0]), ScopeID(parts[1]), ConnectionName(parts[2]), ToolName(parts[3])}
	if err := a.check(); err != nil {
		return Address{}, err
	}
	return a, nil
}

// String gives the dotted form that ParseAddress reads.
func (a Address) String() string {
	return string(a.Source) + "." + string(a.Scope) + "." + string(a.Connection) + "." + string(a.Tool)
}

// MarshalText makes an address a string in JSON.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (a *Address) UnmarshalText(text []byte) error {
	parsed, err := ParseAddress(string(text))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}

func (a Address) check() error {
	for _, part := range []struct{ what, value string }{
		{"source", string(a.Source)}, {"scope", string(a.Scope)}, {"connection", string(a.Connection)},
	} {
		if err := checkName(part.what, part.value); err != nil {
			return err
		}
	}
	return checkToolName(a.Tool)
}

// checkName holds source, scope and connection names to one alphabet, so that
// an address splits in one way only and every name is a safe file name.
func checkName(what, name string) error {
	ok := name != "" && len(name) <= 63
	for i := 0; ok && i < len(name); i++ {
		c := name[i]
		ok = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || i > 0 && (c == '-' || c == '_')
	}
	if ok {
		return nil
	}
	return &Error{
		Code: Invalid, Op: "address",
		Msg:  fmt.Sprintf("%s name %q is not usable", what, name),
		Hint: "use 1 to 63 lower-case letters, digits, - and _, beginning with a letter or digit",
	}
}

func checkToolName(name ToolName) error {
	s := string(name)
	ok := s != "" && len(s) <= 128 && !strings.Contains("."+s+".", "..")
	for i := 0; ok && i < len(s); i++ {
		c := s[i]
		ok = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
	}
	if ok {
		return nil
	}
	return &Error{
		Code: Invalid, Op: "address",
		Msg:  fmt.Sprintf("tool name %q is not usable", s),
		Hint: "use 1 to 128 letters, digits, -, _ and single dots",
	}
}
