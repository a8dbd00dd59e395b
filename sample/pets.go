package sample

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// PetPage is a part of the pets, by id.
type PetPage struct {
	Pets []Pet  `json:"pets"`
	Next string `json:"next_cursor,omitempty"` // empty: there are no more
}

func listPets(st *state, r *http.Request) answer {
	q := r.URL.Query()
	from, limit, wrong := paging(q)
	if len(wrong) > 0 {
		return invalid(wrong...)
	}
	pets := slices.DeleteFunc(slices.Clone(st.Pets), func(p Pet) bool { return q.Get("tag") != "" && p.Tag != q.Get("tag") })
	pets, next := page(pets, from, limit, func(p Pet) int { return p.ID })
	return answer{status: http.StatusOK, body: PetPage{pets, next}}
}

// paging reads limit and cursor: where to begin is after the id from.
func paging(q url.Values) (from, limit int, wrong []Wrong) {
	limit = 20
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 100 {
			wrong = append(wrong, Wrong{Parameter: "limit", Detail: "must be a whole number from 1 to 100"})
		}
		limit = n
	}
	if text := q.Get("cursor"); text != "" {
		raw, err := base64.RawURLEncoding.DecodeString(text)
		n, numErr := strconv.Atoi(strings.TrimPrefix(string(raw), "after:"))
		if err != nil || numErr != nil {
			wrong = append(wrong, Wrong{Parameter: "cursor", Detail: "must be the next_cursor of an answer"})
		}
		from = n
	}
	return from, limit, wrong
}

// page cuts limit items after the id from out of all, and gives the cursor of the
// rest.
func page[T any](all []T, from, limit int, id func(T) int) (part []T, next string) {
	start, found := slices.BinarySearchFunc(all, from, func(item T, from int) int { return cmp.Compare(id(item), from) })
	if found {
		start++
	}
	part = all[start:]
	if len(part) > limit {
		part = part[:limit]
		next = base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "after:%d", id(part[limit-1])))
	}
	return append([]T{}, part...), next
}

// withPet calls do with the place of the pet that the path names.
func withPet(st *state, r *http.Request, do func(i int) answer) answer {
	id, err := strconv.Atoi(r.PathValue("petId"))
	i := st.find(id)
	if err != nil || i < 0 {
		return problem(http.StatusNotFound, fmt.Sprintf("there is no pet %q", r.PathValue("petId")))
	}
	return do(i)
}

// tell answers with a pet. Its ETag changes with whatever it says.
func tell(status int, p Pet) answer {
	return answer{status: status, header: map[string]string{"ETag": etag(p)}, body: p}
}

func etag(p Pet) string {
	text, _ := json.Marshal(p) // always encodes
	sum := sha256.Sum256(text)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

// outdated tells whether the caller means another state of the pet than there is.
func outdated(r *http.Request, p Pet) bool {
	tag := r.Header.Get("If-Match")
	return tag != "" && tag != "*" && tag != etag(p)
}

func getPet(st *state, r *http.Request) answer {
	return withPet(st, r, func(i int) answer {
		if tag := r.Header.Get("If-None-Match"); tag != "" && tag == etag(st.Pets[i]) {
			return answer{status: http.StatusNotModified, header: map[string]string{"ETag": tag}}
		}
		return tell(http.StatusOK, st.Pets[i])
	})
}

func createPet(st *state, r *http.Request) answer {
	d, wrong := readDraft(r.Body)
	if d.Name == nil && len(wrong) == 0 {
		wrong = append(wrong, Wrong{Pointer: "/name", Detail: "is required"})
	}
	if len(wrong) > 0 {
		return invalid(wrong...)
	}
	if len(st.Pets) >= maxPets {
		return problem(http.StatusConflict, fmt.Sprintf("the shop has room for %d pets", maxPets))
	}
	st.LastPet++
	p := Pet{ID: st.LastPet, Status: "available"}
	d.apply(&p)
	st.Pets = append(st.Pets, p)
	a := tell(http.StatusCreated, p)
	a.header["Location"] = fmt.Sprintf("/pets/%d", p.ID)
	return a
}

func updatePet(st *state, r *http.Request) answer {
	return withPet(st, r, func(i int) answer {
		d, wrong := readDraft(r.Body)
		if len(wrong) > 0 {
			return invalid(wrong...)
		}
		if outdated(r, st.Pets[i]) {
			return problem(http.StatusPreconditionFailed, "the pet has changed since")
		}
		d.apply(&st.Pets[i])
		return tell(http.StatusOK, st.Pets[i])
	})
}

func deletePet(st *state, r *http.Request) answer {
	return withPet(st, r, func(i int) answer {
		if outdated(r, st.Pets[i]) {
			return problem(http.StatusPreconditionFailed, "the pet has changed since")
		}
		delete(st.Photos, st.Pets[i].ID)
		st.Pets = slices.Delete(st.Pets, i, i+1)
		return answer{status: http.StatusNoContent}
	})
}

func searchPets(st *state, r *http.Request) answer {
	q, wrong := readSearch(r.Body)
	if len(wrong) > 0 {
		return invalid(wrong...)
	}
	found := []Pet{}
	for _, p := range st.Pets {
		if q.matches(p) {
			found = append(found, p)
		}
	}
	return answer{status: http.StatusOK, body: PetPage{Pets: found}}
}

// photoTypes may be uploaded. None of them can carry a script.
var photoTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "application/octet-stream"}

func putPhoto(st *state, r *http.Request) answer {
	return withPet(st, r, func(i int) answer {
		kind, _, err := mime.ParseMediaType(cmp.Or(r.Header.Get("Content-Type"), "application/octet-stream"))
		if err != nil || !slices.Contains(photoTypes, kind) {
			return problem(http.StatusUnsupportedMediaType, "a photo is one of "+strings.Join(photoTypes, ", "))
		}
		content, _ := io.ReadAll(r.Body) // in memory already
		if len(content) == 0 {
			return invalid(Wrong{Detail: "the body must not be empty"})
		}
		if _, has := st.Photos[st.Pets[i].ID]; !has && len(st.Photos) >= maxPhotos {
			return problem(http.StatusConflict, fmt.Sprintf("the shop has room for %d photos", maxPhotos))
		}
		st.Photos[st.Pets[i].ID] = Photo{Type: kind, Content: content}
		return answer{status: http.StatusNoContent}
	})
}

func getPhoto(st *state, r *http.Request) answer {
	return withPet(st, r, func(i int) answer {
		photo, ok := st.Photos[st.Pets[i].ID]
		if !ok {
			return problem(http.StatusNotFound, fmt.Sprintf("there is no photo of pet %d", st.Pets[i].ID))
		}
		return answer{status: http.StatusOK, raw: photo}
	})
}
