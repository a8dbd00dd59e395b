package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/open-executor/executor/internal/redact"
)

const token = `gh/p_+s3cr"et<&>ké`

func knowing(values ...string) *redact.Secrets {
	var s redact.Secrets
	s.Learn("github/user/work", values)
	return &s
}

func TestASecretIsFoundInEverySpelling(t *testing.T) {
	inJSON, _ := json.Marshal(token)
	for name, text := range map[string]string{
		"as it is":            token,
		"JSON":                string(inJSON),
		"JSON, PHP's slashes": strings.ReplaceAll(string(inJSON), "/", `\/`),
		"JSON, Python's":      `"gh/p_+s3cr\"et<&>k\u00e9"`,
		"JSON, ASCII, HEX":    `"gh/p_+s3cr\"et<&>k\u00E9"`,
		"query":               "?t=" + url.QueryEscape(token),
		"query, lower case":   "?t=" + strings.ToLower(url.QueryEscape("/+")) + url.QueryEscape(token),
		"path":                "/" + url.PathEscape(token) + "/",
		"HTML":                "<p>" + html.EscapeString(token) + "</p>",
		"hex":                 hex.EncodeToString([]byte(token)),
		"HEX":                 strings.ToUpper(hex.EncodeToString([]byte(token))),
		"base64":              base64.StdEncoding.EncodeToString([]byte(token)),
		"base64 of more":      base64.StdEncoding.EncodeToString([]byte("user:" + token)),
		"base64 at shift 1":   base64.StdEncoding.EncodeToString([]byte("x" + token + "y")),
		"base64 at shift 2":   base64.URLEncoding.EncodeToString([]byte("xx" + token + "yy")),
	} {
		got := knowing(token).Text(text)
		if !strings.Contains(got, redact.Masked) {
			t.Errorf("%s: Text(%q) = %q, want the secret masked", name, text, got)
		}
	}
}

func TestEscapesInJSONHideNothing(t *testing.T) {
	got := knowing("hunter22").JSON(json.RawMessage(`{"n":12345678901234567890,"t":"\u0068unter\u00322"}`))
	if want := `{"n":12345678901234567890,"t":"[secret]"}`; string(got) != want {
		t.Errorf("JSON = %s, want %s", got, want)
	}
}

func TestAShortSecretIsMaskedAsAWholeStringOnly(t *testing.T) {
	got := knowing("pw").Text(`{"password":"pw","spelling":"pwned"}`)
	if want := `{"password":"[secret]","spelling":"pwned"}`; got != want {
		t.Errorf("Text = %s, want %s", got, want)
	}
}

func TestASecretThatBeginsLikeAnotherIsMaskedWhole(t *testing.T) {
	got := knowing("hunter22", "hunter22-long").Text("hunter22-long and hunter22")
	if want := "[secret] and [secret]"; got != want {
		t.Errorf("Text = %q, want %q", got, want)
	}
}

func TestASecretStaysKnownWhenItIsReplaced(t *testing.T) {
	s := knowing("first-token")
	s.Learn("github/user/work", []string{"second-token"})
	if got, want := s.Text("first-token second-token"), "[secret] [secret]"; got != want {
		t.Errorf("Text = %q, want %q", got, want)
	}
}

func TestAStreamIsMaskedLikeAText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := knowing("hunter22", "hunter22-long", "2-long-2")
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{
			"hunter22", "hunter22-long", "2-long-2", "hunter", "hunt", "22-long", "-2", "x", strings.Repeat("y", 65530), strings.Repeat("z", 32000),
		})).Draw(t, "pieces")
		text := strings.Join(pieces, "")
		var from io.Reader = strings.NewReader(text)
		if rapid.Bool().Draw(t, "in small reads") {
			from = iotest.HalfReader(from)
		}
		got, err := io.ReadAll(s.Reader(from))
		if err != nil {
			t.Fatal(err)
		}
		if want := s.Text(text); string(got) != want {
			t.Fatalf("a stream of %d bytes differs from the text", len(text))
		}
	})
}

func TestEscapesInAStreamOfJSONHideNothing(t *testing.T) {
	text := `{"a":"\u0068unter\u00322","b":"\\u0068\"\u0022\n\/\u00e9 hunter22","c":"\u12"}`
	for _, from := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
		got, err := io.ReadAll(iotest.OneByteReader(knowing("hunter22").JSONReader(from)))
		want := `{"a":"[secret]","b":"\\u0068\"\u0022\n/\u00e9 [secret]","c":"\u12"}`
		if err != nil || string(got) != want {
			t.Errorf("ReadAll = %s, %v, want %s", got, err, want)
		}
	}
}

func TestAnErrorOfTheStreamArrives(t *testing.T) {
	_, err := io.ReadAll(knowing("hunter22").Reader(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("abc")))))
	if err != iotest.ErrTimeout {
		t.Errorf("ReadAll gives %v, want %v", err, iotest.ErrTimeout)
	}
}

func TestALongStreamOfJSONComesToItsEnd(t *testing.T) {
	for _, piece := range []string{"x", `\n`, `\u0041`, `xA\\`} {
		text := `{"a":"` + strings.Repeat(piece, 100_000) + `hunter22"}`
		got, err := io.ReadAll(knowing("hunter22").JSONReader(strings.NewReader(text)))
		want := strings.ReplaceAll(strings.ReplaceAll(text, `\u0041`, "A"), "hunter22", redact.Masked)
		if err != nil || string(got) != want {
			t.Errorf("a stream of %q comes out as %d bytes, %v, want %d", piece, len(got), err, len(want))
		}
	}
}

func TestASecretInQuotesLeavesJSONWhole(t *testing.T) {
	got := knowing(`"hunter22"`).JSON(json.RawMessage(`{"a":"\"hunter22\""}`))
	if want := `{"a":"[secret]"}`; string(got) != want {
		t.Errorf("JSON = %s, want %s", got, want)
	}
}
