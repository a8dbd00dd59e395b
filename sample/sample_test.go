package sample_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/sample"
)

// ask makes one request of a shop in process and reads its JSON answer.
func ask[T any](t *testing.T, s *sample.Shop, method, path, body string) (int, T) {
	t.Helper()
	resp, content := do(t, &http.Client{Transport: s.Transport(nil)}, sample.Origin, request{method: method, path: path, body: body})
	var v T
	if len(content) > 0 {
		if err := json.Unmarshal(content, &v); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, content)
		}
	}
	return resp.StatusCode, v
}

func TestPagesLeadThroughAllPetsOnce(t *testing.T) {
	s := sample.New()
	var names []string
	cursor := ""
	for range 10 {
		_, page := ask[sample.PetPage](t, s, "GET", "/pets?limit=2&cursor="+cursor, "")
		for _, p := range page.Pets {
			names = append(names, p.Name)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if want := []string{"Rex", "Mia", "Pip", "Luna", "Bruno", "Nemo"}; !slices.Equal(names, want) {
		t.Errorf("pages %v, want %v", names, want)
	}
	_, page := ask[sample.PetPage](t, s, "GET", "/pets?tag=cat&limit=2", "")
	if len(page.Pets) != 2 || page.Pets[0].Name != "Mia" || page.Pets[1].Name != "Luna" || page.Next != "" {
		t.Errorf("cats %+v, want Mia and Luna and no further page", page)
	}
}

func TestACursorOutlivesThePetItNames(t *testing.T) {
	s := sample.New()
	_, page := ask[sample.PetPage](t, s, "GET", "/pets?limit=2", "")
	ask[any](t, s, "DELETE", "/pets/2", "")
	_, rest := ask[sample.PetPage](t, s, "GET", "/pets?limit=1&cursor="+page.Next, "")
	if len(rest.Pets) != 1 || rest.Pets[0].ID != 3 {
		t.Errorf("after the second pet: %+v, want the third", rest.Pets)
	}
}

func TestAPetLivesThroughAllOperations(t *testing.T) {
	s := sample.New()
	status, made := ask[sample.Pet](t, s, "POST", "/pets", `{"name":"Ada","tag":"dog","price":12.5,"born":"2025-01-02"}`)
	want := sample.Pet{ID: 7, Name: "Ada", Tag: "dog", Status: "available", Price: 12.5, Born: "2025-01-02"}
	if status != 201 || made != want {
		t.Fatalf("created %d %+v, want 201 %+v", status, made, want)
	}
	want.Price, want.Born = 20, ""
	if _, got := ask[sample.Pet](t, s, "PATCH", "/pets/7", `{"price":20,"born":null}`); got != want {
		t.Errorf("updated %+v, want %+v", got, want)
	}
	if _, o := ask[sample.Order](t, s, "POST", "/orders", `{"pet":7,"note":"soon"}`); o != (sample.Order{ID: 3, Pet: 7, Status: "placed", Note: "soon"}) {
		t.Errorf("ordered %+v", o)
	}
	want.Status = "pending"
	if _, got := ask[sample.PetPage](t, s, "POST", "/pets/search", `{"name":"ad"}`); len(got.Pets) != 1 || got.Pets[0] != want {
		t.Errorf("found %+v, want %+v", got.Pets, want)
	}
	ask[any](t, s, "DELETE", "/pets/7", "")
	if _, next := ask[sample.Pet](t, s, "POST", "/pets", `{"name":"Bob"}`); next.ID != 8 {
		t.Errorf("the next pet has the id %d, want 8: ids are not used again", next.ID)
	}
	if _, got := ask[sample.Status](t, s, "GET", "/status", ""); got != (sample.Status{Name: "Sample pets", Pets: 7, Orders: 3}) {
		t.Errorf("status %+v", got)
	}
}

func TestWhatIsWrongIsToldForEachMember(t *testing.T) {
	status, got := ask[sample.Problem](t, sample.New(), "POST", "/pets", `{"name":"","price":-1,"status":"lost","born":"soon","a/b":3,"tag":null}`)
	want := []sample.Wrong{
		{Pointer: "/name", Detail: "must be a string of 1 to 80 characters"},
		{Pointer: "/tag", Detail: "must be a string of at most 40 characters"},
		{Pointer: "/status", Detail: "must be available, pending or sold"},
		{Pointer: "/price", Detail: "must be a number from 0 to 1000000"},
		{Pointer: "/born", Detail: "must be a date, for example 2024-05-31, or null"},
		{Pointer: "/a~1b", Detail: "is not a known member"},
	}
	if status != 422 || got.Title != "Unprocessable Entity" || !slices.Equal(got.Errors, want) {
		t.Errorf("%d %+v, want 422 with %+v", status, got, want)
	}
	if status, got := ask[sample.Problem](t, sample.New(), "PUT", "/pets", ""); status != 404 || got.Detail != "PUT /pets is not an operation of this shop; see /openapi.json" {
		t.Errorf("an unknown operation: %d %+v", status, got)
	}
}

func TestAPhotoComesBackByteForByte(t *testing.T) {
	client := &http.Client{Transport: sample.Transport(nil)}
	photo := bytes.Repeat([]byte{0, 0xff, '\r', '\n'}, 50_000)
	do(t, client, sample.Origin, request{method: "PUT", path: "/pets/2/photo", body: string(photo), header: map[string]string{"Content-Type": "image/webp"}})
	resp, got := do(t, client, sample.Origin, request{method: "GET", path: "/pets/2/photo"})
	if resp.Header.Get("Content-Type") != "image/webp" || !bytes.Equal(got, photo) || resp.ContentLength != int64(len(photo)) {
		t.Errorf("%s of %d bytes, want image/webp of %d", resp.Header.Get("Content-Type"), len(got), len(photo))
	}
}

func TestTheETagChangesWithThePetAndGuardsIt(t *testing.T) {
	client := &http.Client{Transport: sample.Transport(nil)}
	before, _ := do(t, client, sample.Origin, request{method: "GET", path: "/pets/1"})
	guard := map[string]string{"If-Match": before.Header.Get("ETag")}
	after, _ := do(t, client, sample.Origin, request{method: "PATCH", path: "/pets/1", body: `{"name":"Max"}`, header: guard})
	again, _ := do(t, client, sample.Origin, request{method: "PATCH", path: "/pets/1", body: `{"name":"Moritz"}`, header: guard})
	if after.StatusCode != 200 || after.Header.Get("ETag") == before.Header.Get("ETag") || again.StatusCode != 412 {
		t.Errorf("first change %d, second %d, want 200 with another ETag, then 412", after.StatusCode, again.StatusCode)
	}
}

func TestAShopInAFileIsThereInTheNextProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sample.json")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	ask[any](t, sample.Open(path), "GET", "/pets", "")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading made the file: %v", err)
	}
	ask[any](t, sample.Open(path), "POST", "/pets", `{"name":"Ada"}`)
	_, page := ask[sample.PetPage](t, sample.Open(path), "GET", "/pets", "")
	if n := len(page.Pets); n != 7 || page.Pets[6] != (sample.Pet{ID: 7, Name: "Ada", Status: "available"}) {
		t.Errorf("the next process sees %+v, want Ada at the end", page.Pets)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("files %v, %v, want one", entries, err)
	}
}

func TestADamagedFileIsToldAndLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sample.json")
	for _, content := range []string{"", `{"pets":`, `{}`, `{"version":2}`} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, r := range []request{{method: "GET", path: "/pets"}, {method: "POST", path: "/pets", body: `{"name":"Ada"}`}} {
			if status, got := ask[sample.Problem](t, sample.Open(path), r.method, r.path, r.body); status != 500 || got.Detail == "" {
				t.Errorf("%s with %q: %d %+v, want 500 and why", r.method, content, status, got)
			}
		}
		if left, err := os.ReadFile(path); string(left) != content || err != nil {
			t.Errorf("the file was changed to %q, %v", left, err)
		}
	}
}

func TestAChangeThatCannotBeKeptIsNotMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := sample.Open(filepath.Join(dir, "sample.json"))
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if status, _ := ask[sample.Problem](t, s, "POST", "/pets", `{"name":"Ada"}`); status != 500 {
		t.Errorf("status %d, want 500", status)
	}
	if _, got := ask[sample.Status](t, s, "GET", "/status", ""); got.Pets != 6 {
		t.Errorf("%d pets, want 6", got.Pets)
	}
}

func TestAPhotoGoesWithItsPet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sample.json")
	s := sample.Open(path)
	var sizes []int
	for _, method := range []string{"PUT", "DELETE"} {
		at := map[string]string{"PUT": "/pets/6/photo", "DELETE": "/pets/6"}[method]
		do(t, &http.Client{Transport: s.Transport(nil)}, sample.Origin, request{
			method: method, path: at, body: string(make([]byte, 9000)), header: map[string]string{"Content-Type": "image/png"},
		})
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(content))
	}
	if sizes[0] < 9000 || sizes[1] > 9000 {
		t.Errorf("the file has %d bytes with the photo and %d without the pet", sizes[0], sizes[1])
	}
}

func TestManyMayUseTheShopAtOnce(t *testing.T) {
	s := sample.Open(filepath.Join(t.TempDir(), "sample.json"))
	var wg sync.WaitGroup
	ids := make([]int, 24)
	for i := range ids {
		wg.Go(func() {
			_, p := ask[sample.Pet](t, s, "POST", "/pets", fmt.Sprintf(`{"name":"pet %d"}`, i))
			ids[i] = p.ID
			ask[sample.PetPage](t, s, "GET", "/pets", "")
		})
	}
	wg.Wait()
	slices.Sort(ids)
	for i, id := range ids {
		if id != i+7 {
			t.Fatalf("ids %v, want 7 to %d, each once", ids, len(ids)+6)
		}
	}
}

func TestOtherOriginsGoOn(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "elsewhere") }))
	t.Cleanup(server.Close)
	client := &http.Client{Transport: sample.Transport(http.DefaultTransport)}
	if _, body := do(t, client, server.URL, request{method: "GET", path: "/status"}); string(body) != "elsewhere" {
		t.Errorf("another origin: %s", body)
	}
	for _, base := range []string{sample.Origin, sample.Origin + ":80", "http://Sample.Executor.Internal"} {
		if resp, body := do(t, client, base, request{method: "GET", path: "/status"}); resp.StatusCode != 200 || string(body) == "elsewhere" {
			t.Errorf("%s: %d %s", base, resp.StatusCode, body)
		}
	}
	refused := errors.New("refused")
	guarded := sample.Transport(failing{refused})
	for _, url := range []string{"https://sample.executor.internal/status", "http://sample.executor.internal:8080/status", "http://sample.executor.internal.example.com/"} {
		if _, err := (&http.Client{Transport: guarded}).Get(url); !errors.Is(err, refused) {
			t.Errorf("GET %s: %v, want it to go on", url, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, _ := http.NewRequestWithContext(ctx, "GET", sample.Origin+"/pets", nil)
	if _, err := guarded.RoundTrip(req); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func TestServeAnswersUntilItIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	base, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- sample.New().Serve(ctx, "127.0.0.1:0", func(url string) { base <- url }) }()
	url := <-base
	if resp, body := do(t, http.DefaultClient, url, request{method: "GET", path: "/pets/1"}); resp.StatusCode != 200 {
		t.Errorf("GET %s/pets/1: %d %s", url, resp.StatusCode, body)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Serve = %v, want nil", err)
	}
	if _, err := http.Get(url + "/pets/1"); err == nil {
		t.Error("it still answers")
	}
}

func TestServeListensOnThisMachineOnly(t *testing.T) {
	for _, address := range []string{":8080", "0.0.0.0:0", "[::]:0", "192.0.2.1:80", "example.com:80", "127.0.0.1", ""} {
		err := sample.New().Serve(t.Context(), address, func(base string) { t.Errorf("%q: it listens on %s", address, base) })
		if executor.CodeOf(err) != executor.Invalid {
			t.Errorf("Serve(%q) = %v, want code %s", address, err, executor.Invalid)
		}
	}
}
