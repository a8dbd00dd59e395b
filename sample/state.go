package sample

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// A Pet as the shop tells of it.
type Pet struct {
	ID     int     `json:"id"`
	Name   string  `json:"name"`
	Tag    string  `json:"tag"`
	Status string  `json:"status"`         // available, pending or sold
	Price  float64 `json:"price"`          // euros
	Born   string  `json:"born,omitempty"` // date, as 2024-05-31
}

// An Order for a pet.
type Order struct {
	ID     int    `json:"id"`
	Pet    int    `json:"pet"`
	Status string `json:"status"` // placed or delivered
	Note   string `json:"note,omitempty"`
}

// Status tells how much there is in the shop.
type Status struct {
	Name   string `json:"name"`
	Pets   int    `json:"pets"`
	Orders int    `json:"orders"`
}

// A Photo of a pet.
type Photo struct {
	Type    string `json:"type"` // media type
	Content []byte `json:"content"`
}

// state is all that the shop knows. Ids rise and are not used again.
type state struct {
	Version int           `json:"version"` // 1
	LastPet int           `json:"lastPet"`
	LastOrd int           `json:"lastOrder"`
	Pets    []Pet         `json:"pets"`   // by id
	Orders  []Order       `json:"orders"` // by id
	Photos  map[int]Photo `json:"photos"` // by the pet's id; contents are never changed
}

const (
	maxPets   = 1000
	maxPhotos = 20
	maxOrders = 1000
)

func seed() *state {
	pixel, _ := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==") // a PNG of one pixel
	return &state{
		Version: 1, LastPet: 6, LastOrd: 2,
		Pets: []Pet{
			{ID: 1, Name: "Rex", Tag: "dog", Status: "available", Price: 250, Born: "2023-04-01"},
			{ID: 2, Name: "Mia", Tag: "cat", Status: "available", Price: 120.5, Born: "2024-02-29"},
			{ID: 3, Name: "Pip", Tag: "bird", Status: "pending", Price: 40},
			{ID: 4, Name: "Luna", Tag: "cat", Status: "sold", Price: 180, Born: "2022-11-12"},
			{ID: 5, Name: "Bruno", Tag: "dog", Status: "available", Price: 310, Born: "2021-07-30"},
			{ID: 6, Name: "Nemo", Tag: "fish", Status: "available", Price: 9.9},
		},
		Orders: []Order{
			{ID: 1, Pet: 4, Status: "delivered"},
			{ID: 2, Pet: 3, Status: "placed", Note: "will be fetched on Friday"},
		},
		Photos: map[int]Photo{1: {Type: "image/png", Content: pixel}},
	}
}

func (st *state) clone() *state {
	next := *st
	next.Pets, next.Orders, next.Photos = slices.Clone(st.Pets), slices.Clone(st.Orders), maps.Clone(st.Photos)
	return &next
}

// find gives the place of a pet, or -1.
func (st *state) find(id int) int {
	return slices.IndexFunc(st.Pets, func(p Pet) bool { return p.ID == id })
}

// current gives the state, which it reads on first use.
func (s *Shop) current() (*state, error) {
	if s.state != nil {
		return s.state, nil
	}
	st := seed()
	if s.path != "" {
		content, err := os.ReadFile(s.path)
		if err == nil {
			st = &state{}
			err = json.Unmarshal(content, st)
			if err == nil && st.Version != 1 {
				err = errors.New("it is of another version")
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the file of the sample shop, %s, is not usable; remove it to begin anew: %w", s.path, err)
		}
	}
	if st.Photos == nil {
		st.Photos = map[int]Photo{}
	}
	s.state = st
	return st, nil
}

// keep makes next the state: in the file first, whole or not at all.
func (s *Shop) keep(next *state) error {
	if s.path == "" {
		s.state = next
		return nil
	}
	content, err := json.Marshal(next)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(s.path), filepath.Base(s.path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when all went well
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), s.path); err != nil {
		return err
	}
	s.state = next
	return nil
}
