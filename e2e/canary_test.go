package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// canaries are the secrets of the stories, by the variable that holds each. No
// story uses another, and none may be found in what a story leaves behind. Their
// characters make the encodings differ: "/" and "+" in URLs, length in base64.
var canaries = map[string]string{
	"CANARY_TOKEN":    "canary-token/4fX+9sQ2v7LkD",
	"CANARY_PASSWORD": "canary&password=8Zr:Wn3 T1",
	"CANARY_KEY":      "sk_test_canaryKey5Hb0Pq6Ym",
	"GITHUB_TOKEN":    "test_token_admin", // emulate knows this one
}

// disguises gives the forms in which a secret may show itself.
func disguises(secret string) map[string]string {
	forms := map[string]string{
		"as it is":          secret,
		"in hex":            hex.EncodeToString([]byte(secret)),
		"in a query":        url.QueryEscape(secret),
		"in a path":         url.PathEscape(secret),
		"in JSON":           strings.ReplaceAll(secret, "/", `\/`),
		"in JSON, for HTML": strings.ReplaceAll(secret, "&", `\u0026`),
	}
	// Base64 of something longer shows the secret shifted by no, one or two
	// bytes; the characters at the ends depend on the neighbours.
	for shift := range 3 {
		padded := strings.Repeat("x", shift) + secret
		for name, enc := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64url": base64.RawURLEncoding} {
			text := enc.EncodeToString([]byte(padded))
			if shift > 0 {
				text = text[shift+1:]
			}
			forms["in "+name+", shifted by "+string(rune('0'+shift))] = text[:len(text)-1]
		}
	}
	return forms
}

func searchForCanaries(t *testing.T, dir string) {
	files := 0
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files++
		below, _ := filepath.Rel(dir, name) // name comes from a walk of dir
		for variable, secret := range canaries {
			for form, text := range disguises(secret) {
				if bytes.Contains(content, []byte(text)) {
					t.Errorf("%s holds %s %s", below, variable, form)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatal("the stories left no file to search")
	}
	t.Logf("searched %d files", files)
}

func TestACanaryIsFoundInEveryDisguise(t *testing.T) {
	for _, secret := range canaries {
		forms := disguises(secret)
		for name, text := range map[string]string{
			"as it is":   "Authorization: Bearer " + secret,
			"in hex":     hex.EncodeToString([]byte("a" + secret + "b")),
			"in a query": "?a=b&t=" + url.QueryEscape(secret) + "&c=d",
			"base64 +0":  base64.StdEncoding.EncodeToString([]byte("abc" + secret + "tail")),
			"base64 +1":  base64.StdEncoding.EncodeToString([]byte("u" + secret + "tail")),
			"base64 +2":  base64.URLEncoding.EncodeToString([]byte("u:" + secret)),
		} {
			found := false
			for _, form := range forms {
				found = found || strings.Contains(text, form)
			}
			if !found {
				t.Errorf("%q, %s, is not found in %q", secret, name, text)
			}
		}
	}
}
