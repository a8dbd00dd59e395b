module github.com/open-executor/executor

go 1.26
