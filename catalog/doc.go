// Package catalog finds tools by what they do and describes one: its schemas and a
// TypeScript signature that a model or a person can read at a glance.
//
// A [Part] is the searchable form of one manifest. It is built once and shared by
// every connection that sees the manifest. An [Index] is a list of views on
// parts, one a connection; making one costs nothing beside the parts. Ranking is
// BM25F over words, without embeddings: the same query over the same manifests
// gives the same hits in the same order.
//
// It imports the root package and a stemmer. What it leaves to others: who may see
// a tool (the executor), and how hits are shown (the surfaces).
package catalog
