package openapi

import "strings"

// An escaper percent-encodes what it does not keep. Unreserved characters are
// always kept (RFC 3986, section 2.3).
type escaper struct {
	keep     string // kept beside the unreserved
	triplets bool   // a "%41" in the text stays as it is (RFC 6570, section 3.2.3)
	none     bool   // everything stays as it is: headers and cookies of style "cookie"
}

// What allowReserved keeps leaves out the characters that would end the value or
// change it: "#" and "?" in a path, "#", "&" and "+" in a query; and brackets, which neither
// may hold raw (RFC 3986, section 3.4).
var (
	strict       = escaper{}
	verbatim     = escaper{none: true}
	pathReserved = escaper{keep: ":/@!$&'()*+,;=", triplets: true}
	reserved     = escaper{keep: ":/?@!$'()*,;=", triplets: true}
	queryLiteral = escaper{keep: ":/?@!$&'()*+,;=", triplets: true} // what a description itself writes
)

const upperHex = "0123456789ABCDEF"

func (e escaper) escape(s string) string {
	if e.none {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case unreserved(c), strings.IndexByte(e.keep, c) >= 0,
			e.triplets && c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		}
	}
	return b.String()
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
