import assert from 'node:assert/strict'
import { deflateSync } from 'node:zlib'
import { isOfOtherProject, undoMise } from '../../../../src/agents/project-environment/mise-session.ts'

describe("the state of a shell's mise", () => {
  const pack = (...bytes: Array<number | string>) =>
    deflateSync(
      Buffer.concat(bytes.map(one => (typeof one === 'string' ? Buffer.from(one) : Buffer.of(one)))),
    )
      .toString('base64')
      .replace(/=+$/, '')
  const text = (value: string) => [0xd9, value.length, value] as const
  const DIFF = pack(
    0x83,
    ...text('old'),
    ...[0x81, ...text('MOON'), ...text('own')],
    ...text('new'),
    ...[0xde, 0, 2, ...text('MOON'), ...text('phobos'), ...text('PLANET'), ...text('mars')],
    ...text('path'),
    ...[0x91, ...text('/a/bin')],
  )
  const session = (...configs: string[]) =>
    pack(
      0x83,
      ...text('loaded_configs'),
      ...[0x90 + configs.length, ...configs.flatMap(text)],
      ...text('latest_update'),
      ...[0xc4, 2, 0, 0],
      ...text('numbers'),
      ...[0x94, 0xcd, 1, 2, 0xcb, 0, 0, 0, 0, 0, 0, 0, 0, 0xc3, 0xff],
    )
  const of = (...configs: string[]) => ({
    HOME: '/h',
    __MISE_DIFF: DIFF,
    __MISE_SESSION: session(...configs),
  })

  it("is another project's unless the folder is part of it", () => {
    const isOther = (folder: string, ...configs: string[]) => isOfOtherProject(of(...configs), folder)
    for (const file of ['mise.toml', '.mise/config.toml', '.config/mise/conf.d/a.toml', 'mise.local.toml']) {
      assert.equal(isOther('/a', `/a/${file}`), false, file)
      assert.equal(isOther('/a/b', `/a/${file}`), false, file)
      assert.equal(isOther('/ab', `/a/${file}`), true, file)
      assert.equal(isOther('/', `/a/${file}`), true, file)
    }
    assert.equal(isOther('/a', '/h/.config/mise/config.toml', '/etc/mise/config.toml'), false)
    assert.equal(isOther('/a', '/h/.config/mise/config.toml', '/b/mise.toml'), true)
    assert.equal(isOfOtherProject({ __MISE_DIFF: DIFF }, '/a'), true)
    assert.equal(isOfOtherProject({ __MISE_SESSION: session('/b/mise.toml') }, '/a'), false)
  })

  it('is undone with what it is known by, and each folder of the PATH once', () => {
    const env = { ...of('/a/mise.toml'), PLANET: 'mars', MISE_SHELL: 'zsh', PATH: '/a/bin:/bin:/a/bin' }
    assert.deepEqual(undoMise({ env, platform: 'linux' }), {
      ...{ __MISE_DIFF: null, __MISE_SESSION: null, MISE_SHELL: null },
      ...{ MOON: 'own', PLANET: null, PATH: '/bin:/a/bin' },
    })
    assert.equal(undoMise({ env: { PATH: '/a/bin' }, platform: 'linux' }), undefined)
  })

  it('is nothing if it is damaged', () => {
    const endless = pack(...Array.from({ length: 50_000 }, () => 0x91))
    const large = deflateSync(Buffer.alloc(2_000_000)).toString('base64')
    const cut = pack(0xdd, 0xff, 0xff, 0xff, 0xff)
    for (const __MISE_DIFF of [
      '',
      'x',
      pack(0xc1),
      pack(0xa5, 'ab'),
      pack(0x81, ...text('old')),
      endless,
      large,
      cut,
    ])
      assert.equal(undoMise({ env: { __MISE_DIFF }, platform: 'linux' }), undefined)
  })
})
