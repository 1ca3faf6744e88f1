import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.ArtifactsApi;
import org.openapitools.client.model.ArtifactBody;
import org.openapitools.client.model.CustomerMessagePayload;
import org.openapitools.client.model.Payload;
import org.openapitools.client.model.SyncPublishBody;
import org.openapitools.client.model.SyncPublishRequest;

/** Publishes a text to a server and prints what it reads back. Arguments: the address of the server, and the text. */
public class RoundTrip {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(args[0]);
    ArtifactsApi artifacts = new ArtifactsApi(client);
    Payload payload = new Payload(new CustomerMessagePayload().text(args[1]));
    SyncPublishRequest request = new SyncPublishRequest().type("CustomerMessage").payload(payload);
    SyncPublishBody run = artifacts.artifactsPublishAndWait(request, null, null);
    ArtifactBody routing = run.getArtifacts().stream().filter(one -> one.getType().equals("Routing")).findFirst().get();
    var listed = artifacts.artifactsList(
        List.of("CustomerMessage"), null, run.getCorrelationId(), null, null, null, null, null, null, null, null, null, null);
    ArtifactBody message = artifacts.artifactsGet(listed.getItems().get(0).getId());
    System.out.printf(
        "{\"text\":\"%s\",\"queue\":\"%s\",\"produced_by\":\"%s\"}%n",
        message.getPayload().get("text"), routing.getPayload().get("queue"), message.getProducedBy());
  }
}
