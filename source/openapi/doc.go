// Package openapi is the source kind "openapi": an API described by OpenAPI 3.0,
// 3.1 or 3.2 or by Swagger 2, in JSON or YAML. Every operation is a tool.
//
// Config:
//
//	{"spec": "https://api.example.com/openapi.json", "base": "https://staging.example.com"}
//
// "spec" is a URL or an absolute file path; "text" holds a description that came
// from neither. "base" replaces the description's servers; "variables" fills their
// blanks.
//
// It imports the root package, a YAML decoder and the character sets of
// golang.org/x/text. What it leaves to others:
// validation of arguments, credentials, egress, retries, records.
package openapi
