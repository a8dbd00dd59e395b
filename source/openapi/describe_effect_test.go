package openapi_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/open-executor/executor"
)

const (
	read    = executor.Read
	write   = executor.Write
	destroy = executor.Destroy
)

var realOperations = []struct {
	method, path, id, summary string
	want                      executor.Effect
}{
	// GitHub
	{"get", "/repos/{owner}/{repo}/issues", "issues/list-for-repo", "", read},
	{"post", "/repos/{owner}/{repo}/issues", "issues/create", "", write},
	{"patch", "/repos/{owner}/{repo}/issues/{n}", "issues/update", "", write},
	{"delete", "/repos/{owner}/{repo}", "repos/delete", "", destroy},
	{"post", "/markdown", "markdown/render", "", read},
	{"post", "/credentials/revoke", "credentials/revoke", "", destroy},
	{"post", "/orgs/{org}/attestations/bulk-list", "orgs/list-attestations-bulk", "", read},
	{"post", "/orgs/{org}/attestations/delete-request", "orgs/delete-attestations-bulk", "", destroy},
	{"put", "/repos/{owner}/{repo}/subscription", "activity/set-repo-subscription", "", write},
	{"get", "/search/code", "search/code", "", read},
	{"post", "/repos/{owner}/{repo}/actions/runs/{id}/rerun", "actions/re-run-workflow", "", write},
	// Slack
	{"post", "/chat.delete", "chat_delete", "", destroy},
	{"post", "/chat.deleteScheduledMessage", "chat_deleteScheduledMessage", "", destroy},
	{"post", "/chat.postMessage", "chat_postMessage", "", write},
	{"get", "/conversations.list", "conversations_list", "", read},
	{"post", "/conversations.archive", "conversations_archive", "", write},
	{"get", "/auth.revoke", "auth_revoke", "", write},
	{"post", "/reactions.remove", "reactions_remove", "", destroy},
	{"get", "/users.info", "users_info", "", read},
	{"post", "/users.deletePhoto", "users_deletePhoto", "", destroy},
	// Stripe
	{"get", "/v1/customers/search", "GetCustomersSearch", "", read},
	{"post", "/v1/customers", "PostCustomers", "", write},
	{"post", "/v1/apps/secrets/delete", "PostAppsSecretsDelete", "", destroy},
	{"post", "/v1/payment_intents/{i}/confirm", "PostPaymentIntentsIntentConfirm", "", write},
	{"post", "/v1/invoices/create_preview", "PostInvoicesCreatePreview", "", write},
	// Elasticsearch
	{"post", "/_search", "search-1", "Run a search", read},
	{"post", "/{index}/_count", "count-2", "", read},
	{"post", "/_msearch", "msearch-1", "", read},
	{"post", "/{index}/_delete_by_query", "delete-by-query", "", destroy},
	{"post", "/_sql", "sql-query", "", write},
	{"post", "/{index}/_update/{id}", "update", "", write},
	{"post", "/_render/template", "render-search-template-1", "", read},
	{"post", "/_bulk", "bulk", "", write},
	// Cloudflare
	{"post", "/accounts/{a}/d1/database/{d}/query", "cloudflare-d1-query-database", "Query D1 Database", write},
	{"post", "/accounts/{a}/vectorize/v2/indexes/{i}/query", "vectorize-query-vector", "", read},
	{"post", "/zones/{z}/purge_cache", "zone-purge", "", destroy},
	{"put", "/accounts/{a}/intel/indicator-feeds/permissions/remove", "custom-indicator-feeds-remove-permission", "", destroy},
	{"post", "/accounts/{a}/dlp/patterns/validate", "dlp-pattern-validation-validate-pattern", "", read},
	{"post", "/zones/{z}/load_balancers/monitors/{m}/preview", "monitors-preview-monitor", "", read},
	// Qdrant
	{"post", "/collections/{c}/points/search", "search_points", "", read},
	{"post", "/collections/{c}/points/query/batch", "query_batch_points", "", read},
	{"post", "/collections/{c}/points/delete", "delete_points", "", destroy},
	{"post", "/collections/{c}/points/count", "count_points", "", read},
	{"put", "/collections/{c}/points", "upsert_points", "", write},
	{"post", "/collections/{c}/index", "create_field_index", "", write},
	// PagerDuty, Asana, Datadog
	{"post", "/analytics/raw/incidents", "getAnalyticsIncidents", "", read},
	{"post", "/teams/{id}/notification_subscriptions/unsubscribe", "removeTeamNotificationSubscriptions", "", destroy},
	{"post", "/tasks/{t}/removeFollowers", "removeFollowerForTask", "", destroy},
	{"post", "/tasks/{t}/addFollowers", "addFollowersForTask", "", write},
	{"post", "/api/v1/logs-queries/list", "ListLogs", "Search logs", read},
	{"post", "/api/v1/monitor/validate", "ValidateMonitor", "", read},
	{"post", "/api/v1/synthetics/tests/delete", "DeleteTests", "", destroy},
	{"post", "/api/v1/slo/bulk_delete", "DeleteSLOTimeframeInBulk", "", destroy},
	// Docker, Temporal, OpenAI, others
	{"post", "/containers/{id}/kill", "ContainerKill", "", destroy},
	{"post", "/containers/prune", "ContainerPrune", "", write},
	{"post", "/namespaces/{n}/workflows/{w}/terminate", "TerminateWorkflowExecution", "", destroy},
	{"post", "/namespaces/{n}/workflows/{w}/query/{q}", "QueryWorkflow", "", read},
	{"post", "/namespaces/{n}/workflows/{w}/reset", "ResetWorkflowExecution", "", write},
	{"post", "/vector_stores/{v}/search", "searchVectorStore", "", read},
	{"post", "/chat/completions", "createChatCompletion", "", write},
	{"get", "/user/logout", "logoutUser", "", write},
	{"get", "/pet/findByStatus", "findPetsByStatus", "", read},
	{"post", "/v1/databases/{id}/query", "", "Query a database", write},
	{"post", "/v1/search", "", "Search by title", read},
	{"post", "/graphql", "graphql.query", "", write},
	{"get", "/views.publish", "views_publish", "", write},
	{"get", "/views.update", "views_update", "", write},
	{"get", "/mail/send", "sendMail", "", write},
	{"get", "/do", "createThing", "", write},
	{"get", "/jobs/{id}/cancel", "cancelJob", "", write},
	{"get", "/rpc/start", "startServer", "", write},
	{"get", "/repos/{o}/import", "migrations/get-import-status", "", read},
	{"get", "/repos/{o}/sbom/generate-report", "dependency-graph/generate-sbom-report", "", read},
	{"get", "/updates", "updates.list", "", read},
	{"get", "/addresses", "addresses", "", read},
	{"get", "/cache/reset", "", "", write},
	{"get", "/deleted-items", "listDeletedItems", "", read},
	{"head", "/files/{f}", "headFile", "", read},
	{"options", "/events", "options_events", "", read},
	{"query", "/items", "items.query", "", read},
	{"post", "/users:search", "", "", read},
	{"post", "/search-and-delete", "searchAndDelete", "", write},
}

func TestTheEffectIsWhatTheOperationDoesNotWhatItsMethodSays(t *testing.T) {
	for i, c := range realOperations {
		t.Run(fmt.Sprint(c.method, " ", c.path), func(t *testing.T) {
			text, err := json.Marshal(map[string]any{"openapi": "3.2.0", "paths": map[string]any{c.path: map[string]any{
				c.method: map[string]any{"operationId": c.id, "summary": c.summary},
			}}})
			if err != nil {
				t.Fatal(err)
			}
			if got := described(t, string(text)).Tools[0].Effect; got != c.want {
				t.Errorf("row %d: effect of %s = %s, want %s", i, c.id, got, c.want)
			}
		})
	}
}

func TestAnExtensionStatesTheEffect(t *testing.T) {
	for hint, want := range map[string]executor.Effect{
		`"x-executor-effect":"destroy"`: executor.Destroy, `"x-effect":"read"`: executor.Read,
		`"x-readonly":true`: executor.Read, `"x-side-effect":false`: executor.Read, `"x-effect":"nonsense"`: executor.Write,
	} {
		m := described(t, `{"openapi":"3.1.0","paths":{"/a":{"post":{`+hint+`}}}}`)
		if got := m.Tools[0].Effect; got != want {
			t.Errorf("%s: effect = %s, want %s", hint, got, want)
		}
	}
}
