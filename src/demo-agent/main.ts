import { Readable, Writable } from 'node:stream'
import { ndJsonStream } from '@agentclientprotocol/sdk'
import { createDemoAgent } from './agent.ts'
import { stateDirectory } from './state-directory.ts'
import { SessionStore } from './store.ts'

/**
 * Parley's demo agent: a scripted ACP agent over stdio that needs no account, no network and no model.
 *
 * Environment: `PARLEY_DEMO_STATE` is the directory of its sessions; `PARLEY_DEMO_PACE` multiplies its pauses
 * (1 is the pace of a model, 0 none).
 */
const pace = Number(process.env.PARLEY_DEMO_PACE ?? '1')
const demo = createDemoAgent({
  store: new SessionStore(stateDirectory(process.env, process.platform)),
  pace: Number.isFinite(pace) && pace >= 0 ? pace : 1,
  log: message => void process.stderr.write(`${message}\n`),
})

const connection = demo.app.connect(
  ndJsonStream(
    Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
  ),
)

async function end(): Promise<void> {
  await demo.stop()
  process.exit(0)
}
void connection.closed.then(end, end)
process.once('SIGTERM', end)
process.once('SIGINT', end)
