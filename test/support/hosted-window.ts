/**
 * A window in a process of its own, whose agent is one of the agent host. It says over its channel when a turn is over, and is
 * then idle until it's killed. An idle agent is kept for 100 ms instead of two minutes.
 *
 * Arguments: the folder of the host's programs, that of its entries, the agent's source, and whether the window confirms what
 * the agent says.
 */
import { AgentHosts } from '../../src/acp/transport/host/agent-hosts.ts'
import type { OutliveTimes } from '../../src/acp/transport/host/hosted-agent-state.ts'
import { HostedProcess } from '../../src/acp/transport/host/hosted-process.ts'
import { IDLE_AGENT_KEPT_MS } from '../../src/common/limits.ts'
import { hostedWindows, sendPrompt } from '../unit/sessions/sessions-fixture.ts'
import type { AgentHostProgram } from './agent-host-program.ts'
import { script } from './contracts/running-process.ts'
import { until } from './until.ts'

const [programs = '', entries = '', source = '', confirms = ''] = process.argv.slice(2)
const { keep, confirm } = HostedProcess.prototype
let confirmed = 0
Object.assign(HostedProcess.prototype, {
  keep(this: HostedProcess, times: OutliveTimes) {
    const shorter = Object.entries(times).map(([name, ms]) => [name, ms === IDLE_AGENT_KEPT_MS ? 100 : ms])
    keep.call(this, Object.fromEntries(shorter) as OutliveTimes)
  },
  confirm(this: HostedProcess, number: number) {
    confirmed = number
    if (confirms === 'true') confirm.call(this, number)
  },
})
const window: AgentHostProgram['window'] = options =>
  new AgentHosts({
    ...{
      folder: entries,
      script: `${programs}/agent-host.mjs`,
      guardScript: `${programs}/process-guard.mjs`,
    },
    maxFrameBytes: () => 4 << 20,
    ...options,
  })
const { args, ...agent } = script(source)
const { controller } = hostedWindows({
  program: { window } as AgentHostProgram,
  launch: { ...agent, args: [...args] },
})()
await controller.opener.start('one')
await sendPrompt(controller, 'go')
const { session } = controller.current!
await until(
  () => JSON.stringify(session.state.entries).includes('Done.') && !session.turns.isWorking,
  'the end of the turn',
)
await until(() => confirmed > 0 && confirmed === session.agent.hosted!.handled, 'all is stored')
process.send!('done')
