import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { AgentClient } from '../../../src/acp/agent.ts'
import { startAgent } from '../../../src/acp/start-agent.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { operatingSystem } from '../../../src/common/processes/process-system.ts'
import { until } from '../../support/until.ts'

/** An agent that reports its arguments and working directory as its name, and whose child process outlives it. */
const AGENT = `
const child = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore', detached: process.platform !== 'win32' })
child.unref()
require('readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id } = JSON.parse(line)
  const name = JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd(), child: child.pid })
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: 1, agentInfo: { name, version: '1' } } }) + '\\n')
}).on('close', () => process.exit(0))
`

/** Package managers install agents as a shim on the PATH (`.cmd` on Windows), in a folder with any name. */
describe('an agent started through a shim', () => {
  const isWindows = process.platform === 'win32'
  let folder: string

  before(async () => {
    const name = isWindows ? "it's (a) & folder" : `it's "a" $folder`
    folder = path.join(await mkdtemp(path.join(os.tmpdir(), 'parley shim ')), name)
    await mkdir(folder)
    const script = path.join(folder, 'agent.cjs')
    await writeFile(script, AGENT)
    const shim = isWindows
      ? `@"${process.execPath}" "%~dp0agent.cjs" %*\r\n`
      : `#!/bin/sh\nexec '${process.execPath}' "$(dirname "$0")/agent.cjs" "$@"\n`
    const file = path.join(folder, isWindows ? 'my agent.cmd' : 'my agent')
    await writeFile(file, shim)
    await chmod(file, 0o755)
  })
  after(() => rm(path.dirname(folder), { recursive: true, force: true, maxRetries: 5 }))

  it('gets its arguments unchanged and leaves no child process', async () => {
    const args = ['a b', 'say "hi"', "it's", 'back\\slash', 'a&b|c', '']
    const agent = await startAgent(
      {
        command: path.join(folder, isWindows ? 'my agent.cmd' : 'my agent'),
        args,
        env: { ...process.env } as Record<string, string>,
        cwd: folder,
      },
      {} as AgentClient,
      {
        clientInfo: { name: 'parley-test', title: 'Test', version: '0.0.0' },
        initializeTimeoutMs: 180_000,
        maxFrameBytes: 1 << 20,
        log: silentLogger,
      },
    )
    try {
      const said = JSON.parse(agent.info.name) as { args: string[]; cwd: string; child: number }
      assert.deepEqual(said.args, args)
      assert.equal(path.basename(said.cwd), path.basename(folder))
      assert.ok(operatingSystem.exists(said.child))
      agent.dispose()
      await until(() => !operatingSystem.exists(said.child), 'the end of the child', 30_000)
    } finally {
      agent.dispose()
    }
  })
})
