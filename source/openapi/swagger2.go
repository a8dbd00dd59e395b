package openapi

// collection turns collectionFormat into a style.
func collection(format, in string) (style string, explode bool) {
	if in == "path" || in == "header" {
		return "simple", false
	}
	switch format {
	case "ssv":
		return "spaceDelimited", false
	case "tsv":
		return "tabDelimited", false
	case "pipes":
		return "pipeDelimited", false
	case "multi":
		return "form", true
	}
	return "form", false
}

// mediaList gives what an operation of Swagger 2 "consumes" or "produces".
func (c *compiler) mediaList(op operation, key string) []string {
	list := op.own.get(key)
	if !list.present() {
		list = c.doc.get(key)
	}
	return list.strings()
}

// swaggerBodies compiles the body parameter, or the form that formData makes.
func (c *compiler) swaggerBodies(op operation, list, form []node) []content {
	for _, p := range list {
		if p.str("in") != "body" {
			continue
		}
		medias := c.mediaList(op, "consumes")
		if len(medias) == 0 {
			medias = []string{"application/json"}
		}
		var all []content
		for _, media := range medias {
			all = append(all, content{
				media: media, schema: p.get("schema"), required: yes(lookup(p.raw, "required")),
				about: c.prose(p.get("description")),
			})
		}
		return all
	}
	if len(form) == 0 {
		return nil
	}
	schema, required, file := formSchema(form)
	var all []content
	for _, media := range c.mediaList(op, "consumes") {
		if isMultipart(media) || isForm(media) && !file {
			all = append(all, content{media: media, schema: schema, required: required, parts: form})
		}
	}
	if len(all) == 0 {
		media := "application/x-www-form-urlencoded"
		if file {
			media = "multipart/form-data"
		}
		all = []content{{media: media, schema: schema, required: required, parts: form}}
	}
	return all
}

// formSchema makes one object schema of formData parameters. Each keeps its own
// "required: true", which the schema compiler understands.
func formSchema(form []node) (schema node, required, file bool) {
	raw := []byte(`{"type":"object","properties":{`)
	for i, p := range form {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = append(quote(raw, p.str("name")), ':')
		raw = append(raw, p.raw...)
		required = required || yes(lookup(p.raw, "required"))
		file = file || p.str("type") == "file"
	}
	raw = append(raw, `}}`...)
	return node{form[0].doc, form[0].ptr, raw}, required, file
}

// swaggerEncoding says how the parts of a form are written.
func swaggerEncoding(form []node, media string) map[string]encoding {
	all := map[string]encoding{}
	for _, p := range form {
		var e encoding
		switch p.str("type") {
		case "file":
			e.Binary = true
		case "array":
			e.Array = true
			e.Style, e.Explode = collection(p.str("collectionFormat"), "query")
			if isMultipart(media) {
				e.Style, e.Explode = "", false
			}
		default:
			continue
		}
		all[p.str("name")] = e
	}
	if len(all) == 0 {
		return nil
	}
	return all
}
