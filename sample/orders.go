package sample

import (
	"fmt"
	"net/http"
)

// OrderPage is a part of the orders, by id.
type OrderPage struct {
	Orders []Order `json:"orders"`
	Next   string  `json:"next_cursor,omitempty"` // empty: there are no more
}

func listOrders(st *state, r *http.Request) answer {
	from, limit, wrong := paging(r.URL.Query())
	if len(wrong) > 0 {
		return invalid(wrong...)
	}
	orders, next := page(st.Orders, from, limit, func(o Order) int { return o.ID })
	return answer{status: http.StatusOK, body: OrderPage{orders, next}}
}

// createOrder orders a pet that is available; from then on it is pending.
func createOrder(st *state, r *http.Request) answer {
	pet, note, wrong := readOrder(r.Body)
	if len(wrong) > 0 {
		return invalid(wrong...)
	}
	i := st.find(pet)
	if i < 0 {
		return invalid(Wrong{Pointer: "/pet", Detail: fmt.Sprintf("there is no pet %d", pet)})
	}
	if st.Pets[i].Status != "available" {
		return problem(http.StatusConflict, fmt.Sprintf("%s is not available", st.Pets[i].Name))
	}
	if len(st.Orders) >= maxOrders {
		return problem(http.StatusConflict, fmt.Sprintf("the shop takes %d orders", maxOrders))
	}
	st.Pets[i].Status = "pending"
	st.LastOrd++
	o := Order{ID: st.LastOrd, Pet: pet, Status: "placed", Note: note}
	st.Orders = append(st.Orders, o)
	return answer{status: http.StatusCreated, body: o}
}
