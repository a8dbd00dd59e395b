package cli

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A table is text in columns. The paint of a column is applied after the cell
// was cut and padded; nil paints nothing.
type table struct {
	head  []string
	paint []func(string) string
	whole []int // columns that are never cut: what is there to be copied
	rows  [][]string
}

const (
	columnGap   = 2
	columnLeast = 8 // a column is not cut below this
)

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = line(cells[i])
	}
	t.rows = append(t.rows, cells)
}

// render lays the table out in width columns of text. The widest columns are cut
// first; columns that still do not fit are left out, and counted.
func (t *table) render(s style, width int) (text string, left int) {
	widths := t.widths()
	shrink(widths, width, t.whole)
	shown := len(widths)
	for shown > 1 && total(widths[:shown]) > width {
		shown--
	}
	var b strings.Builder
	write := func(cells []string, head bool) {
		for i := range shown {
			cell := fit(cells[i], widths[i])
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+columnGap)
			if i == shown-1 {
				pad = ""
			}
			switch {
			case head:
				cell = s.dim(cell)
			case t.paint != nil && t.paint[i] != nil:
				cell = t.paint[i](cell)
			}
			b.WriteString(cell + pad)
		}
		b.WriteString("\n")
	}
	write(t.head, true)
	for _, row := range t.rows {
		write(row, false)
	}
	return trimRight(b.String()), len(widths) - shown
}

func (t *table) widths() []int {
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// shrink cuts the widest of widths until all fit or none may be cut further.
func shrink(widths []int, width int, whole []int) {
	for total(widths) > width {
		widest := -1
		for i, w := range widths {
			if w > columnLeast && !slices.Contains(whole, i) && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

func total(widths []int) int {
	sum := columnGap * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

// trimRight removes blanks before line ends, which empty cells leave.
func trimRight(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
