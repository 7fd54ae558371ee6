import assert from 'node:assert/strict'
import {
  besideCommand,
  commandOf,
  folderIn,
  repeatsCommand,
} from '../../../../src/conversation/tool-command.ts'
import { toolCall } from '../conversation/entries.ts'

const command = (rawInput: unknown, title = '') =>
  commandOf(toolCall('t', { toolKind: 'execute', rawInput, title }))

describe('the command of a tool call', () => {
  it('is shown completely with its arguments', () => {
    assert.deepEqual(command({ command: 'rm -rf build && make', cwd: '/p' }), {
      command: 'rm -rf build && make',
      cwd: '/p',
    })
    assert.equal(
      command({ command: 'git', args: ['commit', '-m', "it's done"] })?.command,
      "git commit -m 'it'\\''s done'",
    )
    assert.equal(command({ command: ['npm', 'run', 'a b'] })?.command, "npm run 'a b'")
    assert.equal(command({ cmd: 'ls', workdir: '/x' })?.cwd, '/x')
  })

  it('includes every command that the agent names, with its environment (quirk 26)', () => {
    assert.equal(command({ commands: ['npm ci', ['npm', 'run', 'a b']] })?.command, "npm ci\nnpm run 'a b'")
    assert.equal(command({ command: 'a', script: 'b' })?.command, 'a\nb')
    assert.deepEqual(command({ command: 'a', env: { PATH: './x' } })?.environment, ['PATH=./x'])
    assert.deepEqual(command({ command: 'a', env: [{ name: 'B', value: 'c' }] })?.environment, ['B=c'])
  })

  it('stands once, whatever the title repeats of it', () => {
    const long = `npm test -- ${'x'.repeat(90)}`
    const beside: Array<[title: string, command: string, expected: string]> = [
      ['execute_bash: npm test', 'npm test', ''],
      ['Execute `npm test`', 'npm test', ''],
      ['npm test', 'npm test', ''],
      ['npm test [in src] (Run the tests)', 'npm test', 'Run the tests'],
      ['Run the tests', 'npm test', 'Run the tests'],
      [`execute_bash: ${long.slice(0, 79)}…`, long, ''],
      ['execute_bash: npm ci', 'npm ci\nnpm test', ''],
      ['Check the list of files…', 'ls', 'Check the list of files…'],
      ['', 'ls', ''],
    ]
    for (const [title, line, expected] of beside) assert.equal(besideCommand(title, line), expected, title)
  })

  it('is found in long texts at once', () => {
    assert.equal(folderIn(' [in /w/a b] '), '/w/a b')
    assert.equal(folderIn('[in a'.repeat(100_000)), undefined)
    const dashes = `x${'-'.repeat(100_000)}x`
    assert.equal(besideCommand(`${dashes} ls`, 'ls'), dashes)
  })

  it('is the content of a request whose title is only a name or was cut', () => {
    const whole = 'npm test -- --grep "a long name of a test"'
    const asked = (title: string, text: string, status = 'pending') =>
      commandOf(
        toolCall('t', {
          ...{ toolKind: 'execute', title, status, toolName: 'Bash' },
          content: [{ type: 'content', content: { type: 'text', text } }],
        }),
      )?.command
    assert.equal(asked('Bash', `\`\`\`sh\n${whole}\n\`\`\``), whole)
    assert.equal(asked('execute_bash', `$ ${whole}`), whole)
    assert.equal(asked('npm test -- --gr…', whole), whole)
    assert.equal(asked('npm test -- --gr...', 'Another text'), 'npm test -- --gr...')
    // a name is no command, and output isn't either
    assert.equal(asked('Bash', ''), undefined)
    assert.equal(asked('Bash', '3 passed', 'completed'), undefined)
    assert.equal(asked('make', '3 passed'), 'make')
  })

  it('is separate from text that only repeats it', () => {
    for (const text of ['ls -la', '```sh\nls -la\n```', '~~~\nls -la\n~~~', '`ls -la`', '$ ls -la\n']) {
      assert.equal(repeatsCommand(text, 'ls -la'), true, text)
    }
    for (const text of ['ls', '```sh\nls -la\nrm x\n```', 'Runs `ls -la`', '']) {
      assert.equal(repeatsCommand(text, 'ls -la'), false, text)
    }
  })

  it('is the script if a shell is given one', () => {
    assert.equal(
      command({ command: ['bash', '-lc', 'npm test && rm -rf /'] })?.command,
      'npm test && rm -rf /',
    )
    assert.equal(command({ command: '/bin/sh', args: ['-c', 'ls -la'] })?.command, 'ls -la')
    assert.equal(command({ command: ['bash', '-c', 'a', 'more'] })?.command, 'bash -c a more')
  })

  it('is the title if there is nothing else', () => {
    assert.deepEqual(command(undefined, '`npm test`'), { command: 'npm test' })
    assert.deepEqual(command({ other: 1 }, 'npm test'), { command: 'npm test' })
    assert.equal(command({ command: '' }), undefined)
  })
})
