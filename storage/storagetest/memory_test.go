package storagetest_test

import (
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/storage/storagetest"
)

func TestMemory(t *testing.T) {
	storagetest.Run(t, func(*testing.T) executor.Storage { return executor.Memory() })
}
