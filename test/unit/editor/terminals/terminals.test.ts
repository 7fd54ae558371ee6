import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { SessionUpdate } from '../../../../src/acp/model.ts'
import { deferred } from '../../../../src/common/async.ts'
import type { ProcessGuard } from '../../../../src/common/processes/process-guard.ts'
import type { CommandEvents, CommandHost, RunCommand } from '../../../../src/common/processes/run-command.ts'
import { SessionTerminals, type SessionTerminalsOptions } from '../../../../src/editor/terminals/terminals.ts'
import { AgentHostProgram, TAG } from '../../../support/agent-host-program.ts'
import { script } from '../../../support/contracts/running-process.ts'
import { useTemporaryFolder } from '../temporary-folder.ts'

type Request = Parameters<SessionTerminals['create']>[0]

const program = new AgentHostProgram()
const HERE = 'in this process'
/** Where the commands run: what holds for one holds for the other. */
const places: Record<string, () => Promise<CommandHost | undefined>> = {
  [HERE]: async () => undefined,
  'in the agent host': async () => {
    await program.build()
    const agent = await program.hosts.start(script('setInterval(() => {}, 1e6)'), TAG, {})
    return agent.commandsOf('s')
  },
}

for (const [place, hostOf] of Object.entries(places))
  describe(`the terminals of a session ${place}`, () => {
    let host: CommandHost | undefined
    before(async function () {
      // the commands below need a POSIX shell
      if (process.platform === 'win32') this.skip()
      host = await hostOf()
    })
    after(() => host && program.end())
    const folder = useTemporaryFolder()
    let open: SessionTerminals[] = []
    afterEach(async () => {
      await Promise.all(open.map(terminals => terminals.endSession()))
      open = []
    })

    const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/' }
    const start = (options: Partial<SessionTerminalsOptions> = {}) => {
      // on a busy machine, a signal can take seconds
      const own = { cwd: folder(), env: async () => env, killGraceMs: 20_000 }
      const terminals = new SessionTerminals({ ...own, host, ...options })
      open.push(terminals)
      return terminals
    }
    const line = (command: string, more: Partial<Request> = {}): Request => ({
      command,
      args: [],
      env: [],
      ...more,
    })
    const run = async (request: Request, terminals = start()) => {
      const { terminalId } = await terminals.create(request)
      const exit = await terminals.waitForExit(terminalId)
      return { exit, ...(await terminals.output(terminalId)), terminalId, terminals }
    }
    /** Resolves when the terminal's output matches. */
    const said = async (terminals: SessionTerminals, terminalId: string, what: RegExp) => {
      for (;;) {
        const match = what.exec((await terminals.output(terminalId)).output)
        if (match) return match
        await new Promise(resolve => setTimeout(resolve, 5))
      }
    }

    describe('run', () => {
      it('a shell command line without args (quirk 3)', async () => {
        const { exit, output, truncated } = await run(
          line('for i in 1 2; do echo "n $i"; done | tr n N; exit 3'),
        )
        assert.deepEqual(exit, { exitCode: 3, signal: null })
        assert.deepEqual({ output, truncated }, { output: 'N 1\nN 2\n', truncated: false })
      })

      it('a command whose output has another encoding, or is binary', async () => {
        const gbk = line(String.raw`printf '\265\261\307\260\264\372\302\353\n'; echo é >&2`)
        assert.equal((await run(gbk)).output, '当前代码\né\n')
        const shiftJis = line(String.raw`printf '\203t\203@\203C\203\213\n'; sleep 60 &`)
        assert.equal((await run(shiftJis, start({ encoding: async () => 'shiftjis' }))).output, 'ファイル\n')
        const binary = line(String.raw`printf '\177ELF\002\001\000\377\n'; echo done`)
        assert.equal((await run(binary)).output, '[binary output]\ndone\n')
      })

      it('a program with args without a shell', async () => {
        const { exit, output } = await run(line('printf', { args: ['%s|', '$HOME', 'a b', '*', ''] }))
        assert.equal(exit.exitCode, 0)
        assert.equal(output, '$HOME|a b|*||')
      })

      it('a program whose path contains spaces, without args', async () => {
        const program = path.join(folder(), 'my program')
        writeFileSync(program, '#!/bin/sh\necho "ran $#"\n')
        chmodSync(program, 0o755)
        assert.equal((await run(line(program))).output, 'ran 0\n')
      })

      it("in the session's cwd or the requested one", async () => {
        mkdirSync(path.join(folder(), 'sub'))
        assert.equal((await run(line('pwd'))).output, `${folder()}\n`)
        assert.equal(
          (await run(line('pwd', { cwd: path.join(folder(), 'sub') }))).output,
          `${folder()}/sub\n`,
        )
        assert.equal((await run(line('pwd', { cwd: 'sub' }))).output, `${folder()}/sub\n`)
        assert.equal((await run(line('pwd', { cwd: '' }))).output, `${folder()}\n`)
      })

      it('with only the given environment and the requested variables', async () => {
        process.env.PARLEY_TEST_LEAK = 'leaked'
        try {
          const { output } = await run(
            line('echo "[$HOME] [$ADDED] [$PARLEY_TEST_LEAK] [$FORCE_COLOR]"', {
              env: [
                { name: 'ADDED', value: 'a=b "c"' },
                { name: 'HOME', value: '/other' },
              ],
            }),
          )
          assert.equal(output, '[/other] [a=b "c"] [] []\n')
        } finally {
          delete process.env.PARLEY_TEST_LEAK
        }
      })

      it("in the user's shell if models know its syntax, else in bash", async () => {
        const { output } = await run(
          line('[[ -n $BASH_VERSION ]] && echo bash'),
          start({
            env: async () => ({ ...env, SHELL: '/usr/bin/fish' }),
          }),
        )
        assert.equal(output, 'bash\n')
      })

      it('commands with closed input', async () => {
        const { output, exit } = await run(line('cat; read answer || echo "nobody"'))
        assert.deepEqual([output, exit.exitCode], ['nobody\n', 0])
      })
    })

    describe('return output', () => {
      it('of both streams in the order it was written', async () => {
        const { output } = await run(line('for i in 1 2 3 4 5 6 7 8 9; do echo "o$i"; echo "e$i" >&2; done'))
        assert.equal(output, [1, 2, 3, 4, 5, 6, 7, 8, 9].map(n => `o${n}\ne${n}\n`).join(''))
      })

      it('of both streams of a program with args', async () => {
        const { output } = await run(line('sh', { args: ['-c', 'echo out; echo err >&2'] }))
        assert.deepEqual(output.split('\n').sort(), ['', 'err', 'out'])
      })

      it('of a command line with a syntax error', async () => {
        const { output, exit } = await run(line('echo "unclosed'))
        assert.match(output, /line 1/)
        assert.notEqual(exit.exitCode, 0)
      })

      it('in whole characters, however it arrives', async () => {
        const terminals = start()
        const texts: string[] = []
        terminals.onUpdate(update => {
          if (update.type === 'terminal_output') texts.push(update.text)
        })
        const { terminalId } = await terminals.create(
          line("printf 'a\\360\\235'; until [ -e go ]; do sleep 0.01; done; printf '\\204\\236b'"),
        )
        await said(terminals, terminalId, /a/)
        writeFileSync(path.join(folder(), 'go'), '')
        await terminals.waitForExit(terminalId)
        assert.deepEqual(texts, ['a', '𝄞b'])
        assert.equal((await terminals.output(terminalId)).output, 'a𝄞b')
      })

      it('of a cut character as a replacement character', async () => {
        assert.equal((await run(line("printf '日本語\\342\\202'"))).output, '日本語\ufffd')
      })

      it('up to the requested number of bytes from the end, cut between characters', async () => {
        const { output, truncated } = await run(line("printf 'ééééé'", { outputByteLimit: 5 }))
        assert.deepEqual({ output, truncated }, { output: 'éé', truncated: true })
        assert.deepEqual(
          await run(line('echo 1234', { outputByteLimit: 5 })).then(got => [got.output, got.truncated]),
          ['1234\n', false],
        )
        assert.equal((await run(line('echo 1234', { outputByteLimit: 0 }))).output, '')
      })

      it("completely, even if the command exits before it's read", async () => {
        // a little more than one read, so that the rest is still in the pipe when the command exits
        const { output } = await run(line("head -c 1150000 /dev/zero | tr '\\0' x; echo end"))
        assert.equal(output.length, 1_150_004)
        assert.match(output, /xend\n$/)
      })

      it('of endless output, keeping only the end', async () => {
        const { output, truncated, exit } = await run(
          line('yes 0123456789abcde | head -n 2000000; echo end', { outputByteLimit: 1000 }),
        )
        assert.equal(exit.exitCode, 0)
        assert.equal(truncated, true)
        assert.equal(Buffer.byteLength(output), 1000)
        assert.match(output, /abcde\nend\n$/)
      })
    })

    describe('stop', () => {
      const isRunning = (pid: number) => {
        try {
          // a zombie has exited, but its parent hasn't waited for it yet
          return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
        } catch {
          return false
        }
      }
      const untilGone = async (pid: number) => {
        while (isRunning(pid)) await new Promise(resolve => setTimeout(resolve, 5))
      }
      before(function () {
        if (process.platform !== 'linux') this.skip()
      })
      /** A command that starts another one and prints its process id. */
      const family = async (terminals: SessionTerminals) => {
        const { terminalId } = await terminals.create(line('sleep 300 & echo "child $!"; wait'))
        const [, pid] = await said(terminals, terminalId, /child (\d+)/)
        assert.equal(isRunning(Number(pid)), true)
        return { terminalId, pid: Number(pid) }
      }

      it('with their child processes when killed, but keep their output', async () => {
        const terminals = start()
        const { terminalId, pid } = await family(terminals)
        const waiting = terminals.waitForExit(terminalId)
        await terminals.kill(terminalId)
        assert.deepEqual(await waiting, { exitCode: null, signal: 'SIGTERM' })
        await untilGone(pid)
        const { output, exit } = await terminals.output(terminalId)
        assert.match(output, /child/)
        assert.deepEqual(exit, { exitCode: null, signal: 'SIGTERM' })
        assert.deepEqual(await terminals.waitForExit(terminalId), exit)
        await terminals.kill(terminalId)
      })

      it('with their child processes when released, after which the agent no longer knows them', async () => {
        const terminals = start()
        const { terminalId, pid } = await family(terminals)
        const waiting = terminals.waitForExit(terminalId)
        await terminals.release(terminalId)
        assert.equal((await waiting).signal, 'SIGTERM')
        await untilGone(pid)
        for (const ask of [
          () => terminals.output(terminalId),
          () => terminals.waitForExit(terminalId),
          () => terminals.kill(terminalId),
          () => terminals.release(terminalId),
        ]) {
          await assert.rejects(ask, /was released/)
        }
        const record = terminals.record(terminalId)
        assert.match(record?.output ?? '', /child/)
        assert.deepEqual([record?.released, record?.exit?.signal], [true, 'SIGTERM'])
      })

      it('when the turn is canceled (quirk 3)', async () => {
        const terminals = start()
        const done = await run(line('echo done'), terminals)
        const [one, two] = [await family(terminals), await family(terminals)]
        const waiting = terminals.waitForExit(one.terminalId)
        await terminals.killAll()
        assert.equal((await waiting).signal, 'SIGTERM')
        await Promise.all([untilGone(one.pid), untilGone(two.pid)])
        assert.equal((await terminals.output(done.terminalId)).exit?.exitCode, 0)
        assert.equal((await run(line('echo again'), terminals)).output, 'again\n')
      })

      it("with the session, which can't start others afterward", async () => {
        const terminals = start()
        const { terminalId, pid } = await family(terminals)
        const waiting = terminals.waitForExit(terminalId)
        await terminals.endSession()
        assert.equal((await waiting).signal, 'SIGTERM')
        await untilGone(pid)
        await assert.rejects(terminals.create(line('echo x')), /session has ended/)
      })

      it('before they start, while their environment is being read', async () => {
        const reading = deferred<typeof env>()
        const started: string[] = []
        const run: RunCommand = async ({ command }) => {
          started.push(command)
          throw new Error('started')
        }
        const terminals = start({ env: () => reading.promise, run })
        const creating = terminals.create(line('echo x'))
        await terminals.endSession()
        reading.resolve(env)
        await assert.rejects(creating, /session has ended/)
        assert.deepEqual(started, [])
      })

      it('immediately with the window, and pending requests end', async () => {
        const terminals = start()
        const { terminalId, pid } = await family(terminals)
        const waiting = terminals.waitForExit(terminalId)
        terminals.dispose()
        assert.deepEqual(await waiting, { exitCode: null, signal: 'SIGKILL' })
        await untilGone(pid)
      })

      it('when the window closes, with child processes in other process groups', async () => {
        const terminals = start()
        const detached =
          "require('child_process').spawn('sleep', ['300'], { detached: true, stdio: 'ignore' })"
        const program = `console.log('child ' + ${detached}.pid); setInterval(() => {}, 1e6)`
        const { terminalId } = await terminals.create(line(process.execPath, { args: ['-e', program] }))
        const [, pid] = await said(terminals, terminalId, /child (\d+)/)
        terminals.dispose()
        await untilGone(Number(pid))
      })

      it('by force if they ignore termination', async () => {
        const terminals = start({ killGraceMs: 50 })
        const { terminalId } = await terminals.create(
          line('trap \'\' TERM; echo "deaf $$"; while :; do sleep 0.02; done'),
        )
        const [, pid] = await said(terminals, terminalId, /deaf (\d+)/)
        await terminals.kill(terminalId)
        assert.deepEqual((await terminals.output(terminalId)).exit, { exitCode: null, signal: 'SIGKILL' })
        await untilGone(Number(pid))
      })

      it('by force, with child processes that ignore termination', async () => {
        const terminals = start({ killGraceMs: 50 })
        const { terminalId } = await terminals.create(
          line('(trap \'\' TERM; echo "deaf $BASHPID"; while :; do sleep 0.02; done) & wait'),
        )
        const [, pid] = await said(terminals, terminalId, /deaf (\d+)/)
        await terminals.kill(terminalId)
        await untilGone(Number(pid))
      })

      it('after they cleaned up, and keep their last output', async () => {
        const terminals = start()
        const { terminalId } = await terminals.create(
          line("trap 'echo cleaned; exit 7' TERM; echo ready; while :; do sleep 0.02; done"),
        )
        await said(terminals, terminalId, /ready/)
        await terminals.kill(terminalId)
        const { output, exit } = await terminals.output(terminalId)
        assert.match(output, /^ready\n(.*\n)?cleaned\n$/)
        assert.deepEqual(exit, { exitCode: 7, signal: null })
      })

      it('if only zombie processes are left', async function () {
        const terminals = start({ killGraceMs: 60_000 })
        // a parent outside of the command's process group, which never waits for its child in the group
        const program = `
        $group = getpgrp; $| = 1;
        if (!fork) {
          setpgrp(0, 0);
          my $child = fork;
          if (!$child) { setpgrp(0, $group); exit }
          select(undef, undef, undef, 0.01) until getpgrp($child) == $group;
          print "parent $$ of $group\n"; sleep 300; exit;
        }
        sleep 300;`
        const { terminalId } = await terminals
          .create(line('perl', { args: ['-e', program] }))
          .catch(() => this.skip())
        const [, parent, group] = await said(terminals, terminalId, /parent (\d+) of (\d+)/)
        try {
          await terminals.endSession()
          assert.equal(process.kill(-Number(group), 0), true, 'the group is still there for signals')
        } finally {
          process.kill(Number(parent), 'SIGKILL')
        }
      })

      // the host has its own
      if (place === HERE)
        it("under the guard's watch until all processes have exited", async () => {
          const watched = new Set<number>()
          const guard: ProcessGuard = {
            add: pid => watched.add(pid),
            follow() {},
            remove: pid => watched.delete(pid),
            dispose() {},
          }
          const terminals = start({ guard })
          await run(line('true'), terminals)
          assert.equal(watched.size, 0)
          const { terminalId } = await terminals.create(line('sleep 300 & echo started'))
          await terminals.waitForExit(terminalId)
          assert.equal(watched.size, 1)
          await terminals.endSession()
          assert.equal(watched.size, 0)
        })

      it('when the command has exited, even if a background process keeps its output open', async () => {
        const terminals = start()
        const { terminalId } = await terminals.create(line('sleep 300 & echo "child $!"'))
        assert.deepEqual(await terminals.waitForExit(terminalId), { exitCode: 0, signal: null })
        const [, pid] = await said(terminals, terminalId, /child (\d+)/)
        assert.equal(isRunning(Number(pid)), true)
        await terminals.release(terminalId)
        await untilGone(Number(pid))
      })
    })

    describe('report to the conversation', () => {
      it('their start, output and exit, in order', async () => {
        const terminals = start()
        const updates: SessionUpdate[] = []
        terminals.onUpdate(update => updates.push(update))
        const { terminalId } = await run(line('printf', { args: ["it's %s", 'me'] }), terminals)
        assert.deepEqual(updates, [
          {
            type: 'terminal',
            terminal: { terminalId, command: `printf 'it'\\''s %s' me`, cwd: folder(), output: '' },
          },
          { type: 'terminal_output', terminalId, text: "it's me" },
          { type: 'terminal', terminal: { terminalId, exit: { exitCode: 0, signal: null } } },
        ])
      })

      it('their start before their output, even if they exit immediately', async () => {
        const hasty: RunCommand = async (_request, events) => {
          events.onOutput('quick')
          events.onExit({ exitCode: 0 })
          return { kill: async () => {}, killNow() {} }
        }
        const terminals = start({ run: hasty })
        const kinds: string[] = []
        terminals.onUpdate(update => kinds.push(update.type))
        const { terminalId } = await terminals.create(line('x'))
        assert.deepEqual(kinds, ['terminal', 'terminal_output', 'terminal'])
        assert.deepEqual(await terminals.output(terminalId), {
          output: 'quick',
          truncated: false,
          exit: { exitCode: 0 },
        })
      })

      it("nothing if the command couldn't be started", async () => {
        const terminals = start()
        terminals.onUpdate(() => assert.fail('nothing has happened'))
        await assert.rejects(
          terminals.create(line('no-such-program', { args: ['x'] })),
          /no such program on the PATH/,
        )
      })
    })

    describe('reject with a message', () => {
      it('an unknown terminal', async () => {
        const terminals = start()
        for (const ask of [
          () => terminals.output('nope'),
          () => terminals.waitForExit('nope'),
          () => terminals.kill('nope'),
          () => terminals.release('nope'),
        ]) {
          await assert.rejects(ask, { message: 'There is no terminal "nope" in this session.' })
        }
        assert.equal(terminals.record('nope'), undefined)
      })

      it("a folder that doesn't exist", async () => {
        await assert.rejects(start().create(line('ls', { cwd: '/no/such' })), /the folder doesn't exist/)
        writeFileSync(path.join(folder(), 'file'), '')
        await assert.rejects(start().create(line('ls', { cwd: 'file' })), /the folder doesn't exist/)
      })

      it('an empty command', async () => {
        await assert.rejects(start().create(line('  ')), /is empty/)
      })

      it('an invalid variable', async () => {
        for (const variable of [
          { name: '', value: 'x' },
          { name: 'A=B', value: 'x' },
          { name: 'A', value: 'x\0y' },
        ]) {
          await assert.rejects(start().create(line('true', { env: [variable] })), /environment variable/)
        }
      })

      it("a program that isn't executable", async () => {
        const program = path.join(folder(), 'plain')
        writeFileSync(program, 'text')
        await assert.rejects(start().create(line(program)), /may not be executed/)
      })

      it('a command line that is too long', async () => {
        await assert.rejects(start().create(line(`echo ${'x'.repeat(3_000_000)}`)), /too long/)
      })
    })
  })

describe('the terminals that an earlier window left', () => {
  const shown = 'npm test'
  const terminal = { id: 't1', shown, cwd: '/w', outputLimit: 1000 }
  const request: Request = { command: shown, args: [], env: [] }
  const begin = (isAnswered: boolean) => {
    const updates: SessionUpdate[] = []
    let events: CommandEvents | undefined
    const started: string[] = []
    const running = { kill: async () => {}, killNow() {} }
    const host: CommandHost = {
      earlier: [{ ...terminal, isAnswered }],
      run: async ({ command }) => {
        started.push(command)
        return running
      },
      resume: (_, heard) => {
        events = heard
        heard.onWholeOutput('one\n', false)
        return running
      },
    }
    const terminals = new SessionTerminals({ cwd: '/w', env: async () => ({}), host })
    terminals.onUpdate(update => updates.push(update))
    terminals.resume()
    return { terminals, updates, started, events: events! }
  }

  it('are shown with all of their output, and their agent can ask for it', async () => {
    const { terminals, updates, events } = begin(true)
    events.onOutput('two\n')
    assert.deepEqual(updates, [
      { type: 'terminal', terminal: { terminalId: 't1', command: shown, cwd: '/w' } },
      { type: 'terminal', terminal: { terminalId: 't1', output: 'one\n' } },
      { type: 'terminal_output', terminalId: 't1', text: 'two\n' },
    ])
    const exit = terminals.waitForExit('t1')
    events.onExit({ exitCode: 0 })
    assert.deepEqual(await exit, { exitCode: 0 })
    assert.equal((await terminals.output('t1')).output, 'one\ntwo\n')
  })

  it("run a command once that the agent asks for again because that window couldn't answer", async () => {
    const { terminals, started } = begin(false)
    assert.deepEqual(await terminals.create(request), { terminalId: 't1' })
    assert.deepEqual(started, [])
    assert.notEqual((await terminals.create(request)).terminalId, 't1')
    assert.deepEqual(started, [shown])
  })

  it('run it again if the agent knows of the first time', async () => {
    const { terminals, started } = begin(true)
    await terminals.create(request)
    assert.deepEqual(started, [shown])
  })
})
