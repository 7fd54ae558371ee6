import assert from 'node:assert/strict'
import type { SecretStore } from '../../../src/mcp/secret-store.ts'

/** The contract of VS Code's secret storage and of its fakes. `create` returns two instances of one store. */
export function secretsContract(create: () => Promise<[SecretStore, SecretStore]>): void {
  const KEY = 'parley-contract/a'

  it("returns the last stored value in every instance, until it's deleted", async () => {
    const [one, other] = await create()
    assert.equal(await one.get(KEY), undefined)
    await one.store(KEY, 'żółć "1"\n')
    await one.store(`${KEY}/b`, '')
    assert.equal(await other.get(KEY), 'żółć "1"\n')
    await other.store(KEY, '2')
    assert.equal(await one.get(KEY), '2')
    await one.delete(KEY)
    await one.delete(KEY)
    assert.equal(await other.get(KEY), undefined)
    assert.equal(await other.get(`${KEY}/b`), '')
    await one.delete(`${KEY}/b`)
  })

  it('accepts keys that every object inherits', async () => {
    const [store] = await create()
    for (const key of ['constructor', '__proto__']) {
      assert.equal(await store.get(key), undefined)
      await store.store(key, 'x')
      assert.equal(await store.get(key), 'x')
      await store.delete(key)
      assert.equal(await store.get(key), undefined)
    }
  })
}
