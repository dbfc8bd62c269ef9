/** The worker that matches regular expressions; only ever loaded as one. */
import { servePatterns, type WorkerScope } from "./servePatterns";

servePatterns(self as unknown as WorkerScope);
