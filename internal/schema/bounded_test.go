package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/open-executor/executor/internal/schema"
)

func TestAValidationThatWouldNotEndIsGivenUp(t *testing.T) {
	b, err := schema.CompileBounded(json.RawMessage(`{"$ref":"#/$defs/N","$defs":{"N":{"anyOf":[
		{"properties":{"k":{"$ref":"#/$defs/N"},"t":{"const":"a"}}},{"properties":{"k":{"$ref":"#/$defs/N"},"t":{"const":"b"}}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	const depth = 64
	for inner, want := range map[string]string{`{"t":"a"}`: "", `{"t":"c"}`: "too many ways"} {
		text := strings.Repeat(`{"k":`, depth) + inner + strings.Repeat("}", depth)
		err := b.Validate(object(t, text), len(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("Validate(… %s …) = %.200v, want %q", inner, err, want)
		}
	}
	if err := b.Validate(object(t, `{"t":"c"}`), 9); err == nil || strings.Contains(err.Error(), "too many ways") {
		t.Errorf("Validate afterwards = %v, want what does not fit", err)
	}
}
