package main

import (
	"context"
	"fmt"
	"os"
)

func Example() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// added sample
	// write   sample.user.public.pets.create
	// destroy sample.user.public.pets.delete
	// read    sample.user.public.pets.get
	// read    sample.user.public.pets.list
	// read    sample.user.public.pets.photo.get
	// write   sample.user.public.pets.photo.put
	// read    sample.user.public.pets.search
	// write   sample.user.public.pets.update
	// read: {"id":1,"name":"Rex","tag":"dog","status":"available","price":250,"born":"2023-04-01"}
	// write: needs_approval
	// after a person said yes: {"id":7,"name":"Bo","tag":"dog","status":"available","price":90}
}
