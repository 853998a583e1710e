package pipeline

import _ "embed" // for the schema

//go:embed pipeline.schema.json
var schema string

// Schema is the JSON Schema (draft 2020-12) of a pipeline file, for editors. It
// knows keys and forms; that the steps of a file fit together, only [Parse] can
// tell.
func Schema() string { return schema }
