// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in prompt files have this syntax
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type ExpansionSources, expandPrompt } from '../../../../src/editor/mentions/expand-prompt.ts'
import {
  calledFile,
  callNames,
  PromptFiles,
  type PromptFolder,
  promptFolders,
} from '../../../../src/editor/mentions/prompt-files.ts'

describe('prompt files on the disk', () => {
  let top = ''
  let root = ''
  let user = ''
  let folders: PromptFolder[] = []
  const files = new PromptFiles()

  beforeEach(() => {
    top = realpathSync(mkdtempSync(join(tmpdir(), 'prompt-files-')))
    root = join(top, 'root')
    user = join(top, 'User/prompts')
    folders = [
      { path: join(root, '.github/prompts'), source: 'workspace', within: [root] },
      { path: user, source: 'user', within: [user] },
    ]
  })
  afterEach(() => rmSync(top, { recursive: true }))

  const write = (file: string, text: string | Buffer) => {
    const path = join(top, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return path
  }
  const names = async () => (await files.find(folders)).map(({ qualifier, name }) => `${qualifier}:${name}`)
  const asked: string[] = []
  const expand = async (text: string, more: Partial<ExpansionSources> = {}) => {
    asked.length = 0
    const call = calledFile(text, await files.find(folders), [])
    assert.ok(call, `${text} calls a file`)
    const expanded = await expandPrompt(call, text, {
      roots: [root],
      values: new Map(),
      readText: file => readFile(file, 'utf8'),
      askOutside: async file => {
        asked.push(file)
        return 'content'
      },
      allow: async () => {},
      ask: async () => undefined,
      inWorktree: async file => file,
      attachmentFor: (file, isFolder) => ({
        id: file,
        label: file,
        icon: 'file',
        content: { type: isFolder ? 'folder' : 'file', uri: file },
      }),
      ...more,
    })
    const content = expanded?.item.content
    const body = content?.type === 'resource' ? content.text : undefined
    return {
      body,
      label: expanded?.item.label,
      files: expanded?.files.map(({ id }) => id),
      length: expanded?.length,
    }
  }

  it('looks in the folders of each root and of the user, and elsewhere only if the user says so', () => {
    const set = {
      user: {
        'docs/prompts': true,
        '~/mine': true,
        '/shared': true,
        '../up': true,
        'a/**': true,
        off: true,
        no: false,
        '/unwanted': false,
      },
      workspace: {
        '/etc': true,
        '/unwanted': true,
        '~/theirs': true,
        more: true,
        off: false,
        '/shared': true,
        wrong: 'yes',
      },
    }
    const places = { set, userPrompts: '/u/prompts', home: '/home/me' }
    const roots = [{ name: 'one', path: '/w/one' }]
    const paths = (isTrusted: boolean) =>
      promptFolders({ ...places, roots, isTrusted }).map(
        ({ path, source }) => `${JSON.stringify(source)} ${path}`,
      )
    assert.deepEqual(paths(true), [
      '"workspace" /w/one/.github/prompts',
      '"workspace" /w/one/docs/prompts',
      '"workspace" /w/one/more',
      '"user" /u/prompts',
      '"user" /home/me/mine',
      '"user" /shared',
    ])
    assert.deepEqual(paths(false), ['"user" /u/prompts', '"user" /home/me/mine', '"user" /shared'])
    const several = promptFolders({
      ...places,
      set: { user: {}, workspace: { '.github/prompts': false, p: true } },
      roots: [...roots, { name: 'two', path: '/w/two' }],
      isTrusted: true,
    })
    assert.deepEqual(
      several.map(({ source }) => source),
      [{ root: 'one' }, { root: 'two' }, 'user'],
    )
  })

  it('finds files, reads their front matter again when they change, and names those apart that are called alike', async () => {
    assert.deepEqual(await names(), [])
    const file = write('root/.github/prompts/a.prompt.md', '---\ndescription: One\n---\nA')
    write('root/.github/prompts/readme.md', 'No')
    write('root/.github/prompts/b.prompt.md/x', 'A folder')
    write(
      'User/prompts/other.prompt.md',
      Buffer.from('\ufeff---\nname: a\ndescription: Ünï\n---\nB', 'utf16le'),
    )
    write('User/prompts/binary.prompt.md', Buffer.from([0, 1, 2, 255]))
    const found = await files.find(folders)
    assert.deepEqual(
      callNames(found, []).map(({ call, file: { header } }) => [call, header?.description]),
      [
        ['a', 'One'],
        ['binary', undefined],
        ['user:a', 'Ünï'],
      ],
    )
    assert.deepEqual(
      callNames(found, ['a']).map(({ call }) => call),
      ['workspace:a', 'binary', 'user:a'],
    )
    assert.equal(calledFile('/a', found, ['a']), undefined)
    assert.equal(calledFile('/a: x', found, ['a']), undefined)
    assert.equal(calledFile('/workspace:a x', found, ['a'])?.file, found[0])
    assert.equal(calledFile('/user:a: x', found, [])?.length, 8)
    for (const text of ['a', '/ab', '/a/b', ' /a', '/', ''])
      assert.equal(calledFile(text, found, []), undefined)
    writeFileSync(file, '---\ndescription: Another one\n---\nA')
    assert.equal((await files.find(folders))[0]?.header?.description, 'Another one')
    rmSync(file)
    assert.deepEqual(await names(), ['user:binary', 'user:a'])
  })

  it('reads neither what a link leads to outside of the folders, nor all of a folder with many files', async () => {
    write('outside/secret.prompt.md', '---\ndescription: Secret\n---\nS')
    write('root/.github/prompts/z.prompt.md', '')
    symlinkSync(join(top, 'outside/secret.prompt.md'), join(root, '.github/prompts/y.prompt.md'))
    symlinkSync(join(root, '.github/prompts/loop.prompt.md'), join(root, '.github/prompts/loop.prompt.md'))
    const found = await files.find(folders)
    assert.deepEqual(
      found.map(({ name, header }) => [name, header !== undefined]),
      [
        ['y', false],
        ['z', true],
      ],
    )
    assert.equal((await expand('/y')).body, 'S')
    assert.deepEqual(asked, [join(root, '.github/prompts/y.prompt.md')])
    assert.equal((await expand('/y', { askOutside: async () => 'cancel' })).body, undefined)
    assert.equal((await expand('/y', { askOutside: async () => 'path' })).body, undefined)
    for (let i = 0; i < 2000; i++) writeFileSync(join(root, `.github/prompts/${i}.prompt.md`), '')
    // a prompt that is sent waits until all are found
    assert.equal((await files.find(folders, 60_000)).length, 500)
  })

  it('puts values in, follows other prompt files and attaches the files that they refer to', async () => {
    write('root/src/a.ts', 'a')
    write(
      'root/.github/prompts/a.prompt.md',
      'A ${input:x} [b](b.prompt.md) [c](sub/c.prompt.md) [ts](../../src/a.ts) [gone](gone.ts) #file:src [/](/src/a.ts)',
    )
    write('root/.github/prompts/b.prompt.md', '---\nmodel: m\n---\nB ${file} [c](./sub/c.prompt.md)')
    write('root/.github/prompts/sub/c.prompt.md', 'C ${input:x} ${input:y:why}')
    const asks: unknown[] = []
    const expanded = await expand('/a: x="1 2" rest', {
      values: new Map([['file', '/f']]),
      ask: async (inputs, command) => {
        asks.push(command, inputs)
        return new Map([['y', '${input:x}']])
      },
    })
    assert.deepEqual(asks, ['/a', [{ name: 'y', placeholder: 'why' }]])
    assert.equal(
      expanded.body,
      'A 1 2 [b](b.prompt.md) [c](sub/c.prompt.md) [ts](../../src/a.ts) [gone](gone.ts) #file:src [/](/src/a.ts)\n\n' +
        'b.prompt.md:\n\nB /f [c](./sub/c.prompt.md)\n\nc.prompt.md:\n\nC 1 2 ${input:x}',
    )
    assert.equal(expanded.label, '/a x="1 2" y=${input:x}')
    assert.equal(expanded.length, '/a: x="1 2"'.length)
    assert.deepEqual(expanded.files, [join(root, 'src/a.ts'), join(root, 'src')])
    assert.deepEqual(asked, [])
    assert.equal((await expand('/a', { values: new Map([['file', '/f']]) })).body, undefined)
  })

  it('attaches what the session has in its worktree', async () => {
    for (const file of ['root/a.ts', 'root/src/x', 'root/gone.ts', 'tree/a.ts', 'tree/src/x']) write(file, '')
    write('root/.github/prompts/p.prompt.md', '#file:a.ts #file:gone.ts #file:src #file:q.prompt.md')
    write('root/.github/prompts/q.prompt.md', 'Q')
    write('tree/.github/prompts/q.prompt.md', 'Not offered')
    const inWorktree = async (file: string) => file.replace(root, join(top, 'tree'))
    const { files: attached, body } = await expand('/p', { roots: [join(top, 'tree'), root], inWorktree })
    assert.deepEqual(attached, [join(top, 'tree/a.ts'), join(root, 'gone.ts'), join(top, 'tree/src')])
    assert.match(body ?? '', /\nQ$/)
    assert.deepEqual(asked, [])
  })

  it('has a short name, whatever the values are', async () => {
    write('root/.github/prompts/a.prompt.md', 'A ${input:x}')
    const whole = `${'x'.repeat(59)}😀 end`
    const { body, label } = await expand(`/a x="${whole}"`)
    assert.equal(body, `A ${whole}`)
    assert.equal(label, `/a x=${'x'.repeat(59)}…`)
    const names = Array.from({ length: 200 }, (_, i) => `n${i}`)
    write('root/.github/prompts/b.prompt.md', names.map(name => `\${input:${name}}`).join(' '))
    const many = await expand('/b', { ask: async () => new Map(names.map(name => [name, '\ud83d'])) })
    assert.ok(many.label!.length <= 501)
    assert.ok(many.body!.length < 1000)
  })

  it('rejects with a sentence if something is missing, too large, or goes in circles', async () => {
    write('root/.github/prompts/a.prompt.md', '[b](b.prompt.md)')
    write('root/.github/prompts/b.prompt.md', '[a](a.prompt.md)')
    write('root/.github/prompts/self.prompt.md', '#file:self.prompt.md')
    write('root/.github/prompts/gone.prompt.md', '[x](x.prompt.md)')
    write('root/.github/prompts/file.prompt.md', '${fileBasename}')
    write('root/.github/prompts/empty.prompt.md', '---\nname: empty\n---\n \n')
    write(
      'root/.github/prompts/many.prompt.md',
      Array.from({ length: 60 }, (_, i) => `#file:f${i}`).join(' '),
    )
    write('root/.github/prompts/grows.prompt.md', '${selection}'.repeat(20_000))
    for (let i = 0; i < 60; i++) write(`root/f${i}`, '')
    const values = new Map([['selection', 'x'.repeat(1_000_000)]])
    for (const [call, sentence] of [
      ['/a', /a\.prompt\.md → b\.prompt\.md → a\.prompt\.md/],
      ['/self', /self\.prompt\.md → self\.prompt\.md/],
      ['/gone', /gone\.prompt\.md refers to x\.prompt\.md, which doesn't exist/],
      ['/file', /needs a file/],
      ['/empty', /empty\.prompt\.md is empty/],
      ['/many', /more than 50 files/],
      ['/grows', /too long/],
    ] as const)
      await assert.rejects(expand(call, { values }), sentence, call)
    await assert.rejects(expand('/a', { readText: async () => undefined }), /isn't a text file/)
  })

  it('asks about each file outside once, but not about what the user keeps beside the own prompt files', async () => {
    write('outside/one.md', '1')
    write('outside/two.prompt.md', 'Two')
    write('User/prompts/own.md', 'own')
    const allowed: string[] = []
    const allow = async (file: string) => void allowed.push(file)
    write(
      'User/prompts/u.prompt.md',
      '[1](../../outside/one.md) [1](../../outside/../outside/one.md) [2](../../outside/two.prompt.md) [own](own.md)',
    )
    const both = await expand('/u', { allow })
    assert.deepEqual(asked, [join(top, 'outside/one.md'), join(top, 'outside/two.prompt.md')])
    assert.deepEqual(both.files, [join(top, 'outside/one.md'), join(user, 'own.md')])
    assert.match(both.body ?? '', /two\.prompt\.md:\n\nTwo$/)
    assert.ok(allowed.includes(join(user, 'own.md')))
    // what the workspace's prompt files refer to isn't the user's, even if the user's refer to them
    write('User/prompts/w.prompt.md', '[w](/.github/prompts/w.prompt.md)')
    write('root/.github/prompts/w.prompt.md', '[own](../../../User/prompts/own.md)')
    folders.reverse()
    await expand('/w', { allow })
    assert.deepEqual(asked, [join(user, 'own.md')])
    folders.reverse()
    const paths = await expand('/u', { allow, askOutside: async () => 'path' })
    assert.deepEqual(paths.files, [
      join(top, 'outside/one.md'),
      join(top, 'outside/two.prompt.md'),
      join(user, 'own.md'),
    ])
    for (let i = 0; i < 12; i++) write(`outside/${i}.md`, '')
    write(
      'root/.github/prompts/o.prompt.md',
      Array.from({ length: 12 }, (_, i) => `#file:../../../outside/${i}.md`).join('\n'),
    )
    await assert.rejects(expand('/o'), /more than 10 files outside/)
  })
})
