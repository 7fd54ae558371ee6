import { Readable, Writable } from 'node:stream'
import { ndJsonStream } from '@agentclientprotocol/sdk'
import { agentProtocolRouter } from '@agentclientprotocol/sdk/experimental/v2'
import { createDemoAgent } from './agent.ts'
import { SessionStore, stateDirectory } from './store.ts'
import { createDemoAgentV2 } from './v2/agent.ts'

/**
 * Parley's demo agent: a scripted ACP agent over stdio that needs no account, no network and no model. Speaks v1 or v2, depending on the
 * client's offer.
 *
 * Environment: `PARLEY_DEMO_STATE` is the directory of its sessions; `PARLEY_DEMO_PACE` multiplies its pauses (1 for the pace of a model, 0
 * for no pauses).
 */
const pace = Number(process.env.PARLEY_DEMO_PACE ?? '1')
const log = (message: string) => void process.stderr.write(`${message}\n`)
const options = {
  store: new SessionStore(stateDirectory(process.env, process.platform), error =>
    log(`The session couldn't be written: ${String(error)}`),
  ),
  pace: Number.isFinite(pace) && pace >= 0 ? pace : 1,
  log,
}
const first = createDemoAgent(options)
const second = createDemoAgentV2(options)

const connection = agentProtocolRouter()
  .withV1(first.app)
  .withV2(second.app)
  .connect(
    ndJsonStream(
      Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
      Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    ),
  )

async function end(): Promise<void> {
  await Promise.all([first.stop(), second.stop()])
  process.exit(0)
}
void connection.closed.then(end, end)
process.once('SIGTERM', end)
process.once('SIGINT', end)
