/**
 * The agent host: a separate program that runs agents so that they outlive the window. It knows little about the protocol: where a frame
 * ends, and which frames are requests. Arguments: the folder of the hosts' entries, and the script of the process guard.
 */
import { writeSync } from 'node:fs'
import path from 'node:path'
import { messageOf } from '../common/errors.ts'
import { END_HOST_MS } from '../common/limits.ts'
import { silentLogger } from '../common/logger.ts'
import { createProcessGuard } from '../common/processes/process-guard.ts'
import { AgentHost } from './host.ts'

/** The exit is forced, because Node may wait forever for its own threads (https://github.com/nodejs/node/issues/54918). */
const exit = () => process.kill(process.pid, 'SIGKILL')

const [folder = '', script = ''] = process.argv.slice(2)
const guard = createProcessGuard({ script, log: silentLogger })
const host = new AgentHost({ folder, program: path.dirname(script), guard })
// The signals arrive when the host's terminal closes, or when the user logs out.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
  process.on(signal, () => {
    void host.end()
    // An agent that doesn't end must not keep the host running. The guard ends the remaining processes.
    setTimeout(exit, END_HOST_MS).unref()
  })
try {
  await host.start()
  await host.ended
} catch (error) {
  // The window that starts the host reads the error from stderr.
  writeSync(2, messageOf(error))
}
guard.dispose()
exit()
