import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.ServerVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;

/** mongo-java-server in memory: its own main class speaks a protocol too old for pymongo. */
public class MemoryMongoServer {
    public static void main(String[] arguments) {
        var backend = new MemoryBackend().version(ServerVersion.MONGO_5_0);
        new MongoServer(backend).bind("127.0.0.1", Integer.parseInt(arguments[0]));
    }
}
