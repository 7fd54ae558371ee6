/**
 * A program that does with an agent of the host what a window does: it stores each frame, here a number in a line of a file,
 * and then confirms it. It's killed at its last frame, before or after it confirms that; the next one goes on after the last
 * line.
 *
 * Arguments: the folder of the hosts' entries, the agent's id, the file, the number of the last frame, and whether it confirms
 * that.
 */
import { openSync, readFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { AgentHosts } from '../../src/acp/transport/host/agent-hosts.ts'

const [folder = '', id = '', stored = '', last = '', confirms = ''] = process.argv.slice(2)
let number = readFileSync(stored, 'utf8').split('\n').length - 1
const file = openSync(stored, 'a')
const hosts = new AgentHosts({ folder, script: '', guardScript: '', maxFrameBytes: () => 1 << 20 })
const agent = await hosts.attach(id, number)
if (!agent) throw new Error(`There is no agent ${id}.`)
createInterface({ input: agent.stdout }).on('line', line => {
  writeSync(file, `${JSON.parse(line).params}\n`)
  const isLast = ++number === Number(last)
  if (!isLast || confirms === 'true') agent.confirm(number)
  if (isLast) process.kill(process.pid, 'SIGKILL')
})
