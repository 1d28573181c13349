import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClientBuilder;
import software.amazon.awssdk.transfer.s3.S3TransferManager;
import software.amazon.awssdk.transfer.s3.model.DownloadFileRequest;

/**
 * Copies objects of a bucket to files: {@code TransferManager BUCKET CONNECTIONS [ENDPOINT]}.
 *
 * <p>Each line in is a key, a tab and a path. When the file is there, a line out has its path, a tab
 * and the error, or nothing. Files are copied as soon as their lines come, up to CONNECTIONS at a
 * time. It ends with its input. Region and credentials are those of the environment.
 */
final class TransferManager {
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  public static void main(String[] arguments) throws IOException {
    String bucket = arguments[0];
    NettyNioAsyncHttpClient.Builder http =
        NettyNioAsyncHttpClient.builder()
            .maxConcurrency(Integer.parseInt(arguments[1]))
            .connectionAcquisitionTimeout(PATIENCE); // many files may wait for few connections
    String bundle = System.getenv("AWS_CA_BUNDLE"); // which this SDK does not read
    if (bundle != null) {
      http.tlsTrustManagersProvider(() -> trusting(bundle));
    }
    S3AsyncClientBuilder client = S3AsyncClient.builder().multipartEnabled(true).httpClientBuilder(http);
    if (arguments.length > 2) {
      client.endpointOverride(URI.create(arguments[2])).forcePathStyle(true);
    }
    S3TransferManager manager = S3TransferManager.builder().s3Client(client.build()).build();
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] fields = line.split("\t");
      copy(manager, bucket, fields[0], fields[1]);
    }
    System.exit(0); // threads of the client would live on for seconds
  }

  private static void copy(S3TransferManager manager, String bucket, String key, String path) {
    DownloadFileRequest request =
        DownloadFileRequest.builder()
            .getObjectRequest(get -> get.bucket(bucket).key(key))
            .destination(Path.of(path))
            .build();
    manager
        .downloadFile(request)
        .completionFuture()
        .whenComplete((done, error) -> answer(path, error == null ? "" : String.valueOf(error)));
  }

  private static synchronized void answer(String path, String error) {
    System.out.println(path + "\t" + error.replaceAll("\\s+", " "));
    System.out.flush();
  }

  private static TrustManager[] trusting(String bundle) {
    try (InputStream file = new FileInputStream(bundle)) {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      int number = 0;
      for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
        store.setCertificateEntry(String.valueOf(number++), each);
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(store);
      return factory.getTrustManagers();
    } catch (IOException | GeneralSecurityException error) {
      throw new IllegalStateException(bundle + ": " + error, error);
    }
  }
}
