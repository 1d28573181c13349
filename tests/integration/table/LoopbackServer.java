import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** DynamoDB Local on 127.0.0.1 alone: its own main class listens on every interface. */
public class LoopbackServer {
    public static void main(String[] arguments) throws Exception {
        DynamoDBProxyServer dynamodb = ServerRunner.createServerFromCommandLineArgs(arguments);
        var field = DynamoDBProxyServer.class.getDeclaredField("server");
        field.setAccessible(true);
        for (Connector connector : ((Server) field.get(dynamodb)).getConnectors()) {
            ((ServerConnector) connector).setHost("127.0.0.1");
        }
        dynamodb.start();
        dynamodb.join();
    }
}
