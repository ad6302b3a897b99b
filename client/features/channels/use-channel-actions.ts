import { channelStatus } from '#core/statuses.ts'
import { confirm } from '../../components/confirm.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'

export type Named = { id: number; name: string }

type ModelDrift = { added: readonly string[]; gone: readonly string[] }

const mostNamed = 20

const namesOf = (channels: readonly Named[]): string => {
  const named = channels.slice(0, mostNamed).map(({ name }) => name)
  const rest = channels.length - named.length
  return named.join('、') + (rest > 0 ? t('……以及另外 {count} 个', { count: rest }) : '')
}

const removalWords = () => t('密钥与测试记录会一并删除，使用日志保留。此操作不可撤销。')

/** What can be done with channels of the list; each act says what became of it and refreshes the list. */
export function useChannelActions() {
  const utils = trpc.useUtils()
  const api = utils.client.admin.channels
  const refresh = () => Promise.all([utils.admin.channels.invalidate(), utils.admin.models.invalidate()])

  const attempt = async (act: () => Promise<unknown>, words: { done: string; failed: string }) => {
    try {
      await act()
      notify.success(words.done)
    } catch (error) {
      notify.error(error, words.failed)
    }
    await refresh()
  }

  const setStatus = async (id: number, on: boolean, keepKeys = false) => {
    await api.setStatus.mutate({ id, status: on ? channelStatus.enabled : channelStatus.disabled, keepKeys })
    await refresh()
  }

  /** Takes a word on a channel back; keys that had gone off by themselves stay off. */
  const undoStatus = ({ id, name }: Named, on: boolean) =>
    setStatus(id, !on, true).catch((error: unknown) => notify.error(error, t('没有撤销对「{name}」的更改', { name })))

  return {
    refresh,
    setPriority: async (id: number, priority: number) => {
      await api.setPriority.mutate({ id, priority })
      await refresh()
    },
    setWeight: async (id: number, weight: number) => {
      await api.setWeight.mutate({ id, weight })
      await refresh()
    },
    editTag: async (input: { tag: string; priority?: number; weight?: number }) => {
      await api.tags.edit.mutate(input)
      await refresh()
    },
    setStatus: async (channel: Named & { status: number }, on: boolean) => {
      const { id, name, status } = channel
      try {
        await setStatus(id, on)
      } catch (error) {
        return notify.error(error, on ? t('没有启用「{name}」', { name }) : t('没有禁用「{name}」', { name }))
      }
      // That a channel had gone off by itself, and why, cannot be brought back.
      const undone = status === channelStatus.autoDisabled ? undefined : () => void undoStatus(channel, on)
      notify.success(on ? t('已启用「{name}」', { name }) : t('已禁用「{name}」', { name }), {
        action: undone && { label: t('撤销'), onClick: undone },
      })
    },
    setTagStatus: (tag: string, on: boolean) =>
      attempt(
        () => (on ? api.tags.enable : api.tags.disable).mutate({ tag }),
        on
          ? { done: t('已启用标签「{tag}」的全部渠道', { tag }), failed: t('没有启用标签「{tag}」', { tag }) }
          : { done: t('已禁用标签「{tag}」的全部渠道', { tag }), failed: t('没有禁用标签「{tag}」', { tag }) },
      ),
    /** Whether it was done. */
    setStatusOfMany: async (channels: readonly Named[], on: boolean): Promise<boolean> => {
      const status = on ? channelStatus.enabled : channelStatus.disabled
      try {
        const { count } = await api.setStatusOfMany.mutate({ ids: channels.map(({ id }) => id), status })
        notify.success(on ? t('已启用 {count} 个渠道', { count }) : t('已禁用 {count} 个渠道', { count }))
        return true
      } catch (error) {
        notify.error(error, t('{count} 个渠道没有更改', { count: channels.length }))
        return false
      } finally {
        await refresh()
      }
    },
    /** Takes over the upstream's own list: what it offers besides, without what it lists no more. */
    applyDrift: async ({ id, name, models }: Named & { models: readonly string[] }, drift: ModelDrift) => {
      const next = [...new Set([...models.filter((model) => !drift.gone.includes(model)), ...drift.added])]
      if (next.length === 0) return notify.warning(t('没有更改「{name}」：渠道将没有任何模型', { name }))
      // Each list replaces the one that it was made from: what somebody else has changed since is not lost.
      const put = async (list: readonly string[], instead: readonly string[]) => {
        try {
          await api.update.mutate({ id, models: [...list], expected: { models: [...instead] } })
          return true
        } catch (error) {
          notify.error(error, t('没有更改「{name}」的模型', { name }))
          return false
        } finally {
          await refresh()
        }
      }
      if (!(await put(next, models))) return
      const { length: count } = drift.added
      const isAddition = drift.gone.length === 0 && count > 0
      const done = isAddition
        ? t('已为「{name}」加入 {count} 个模型', { name, count })
        : t('「{name}」的模型已与上游一致', { name })
      notify.success(done, {
        action: { label: t('撤销'), onClick: () => void put(models, next) },
      })
    },
    copy: ({ id, name }: Named) =>
      attempt(() => api.copy.mutate({ id }), {
        done: t('渠道复制成功'),
        failed: t('渠道复制失败：「{name}」', { name }),
      }),
    updateBalance: ({ id, name }: Named) =>
      attempt(() => api.updateBalance.mutate({ id }), {
        done: t('已更新「{name}」的余额', { name }),
        failed: t('没有更新「{name}」的余额', { name }),
      }),
    remove: ({ id, name }: Named) =>
      confirm({
        title: t('删除渠道「{name}」？', { name }),
        body: removalWords(),
        confirmLabel: t('删除'),
        danger: true,
        typeToConfirm: name,
        run: async () => {
          await api.remove.mutate({ id })
          await refresh()
        },
      }),
    removeMany: (channels: readonly Named[]) =>
      confirm({
        title: t('删除选中的 {count} 个渠道？', { count: channels.length }),
        body: `${namesOf(channels)}\n${removalWords()}`,
        confirmLabel: t('删除'),
        danger: true,
        typeToConfirm: String(channels.length),
        run: async () => {
          const { count } = await api.removeMany.mutate({ ids: channels.map(({ id }) => id) })
          notify.success(t('已删除 {count} 个渠道', { count }))
          await refresh()
        },
      }),
    removeDisabled: async () => {
      const { total } = await utils.admin.channels.list.fetch({ statuses: [2, 3], pageSize: 1 }, { staleTime: 0 })
      if (total === 0) return notify.info(t('没有已禁用的渠道'))
      await confirm({
        title: t('删除全部 {count} 个已禁用的渠道？', { count: total }),
        body: `${t('包括手动禁用和自动禁用的渠道。')}${removalWords()}`,
        confirmLabel: t('删除'),
        danger: true,
        typeToConfirm: String(total),
        run: async () => {
          const { count } = await api.removeDisabled.mutate()
          notify.success(t('已删除 {count} 个渠道', { count }))
          await refresh()
        },
      })
    },
    fixAbilities: () =>
      confirm({
        title: t('修复数据库一致性？'),
        body: t('按照渠道的模型与分组重建索引。渠道本身不会改变。'),
        run: async () => {
          const { count } = await api.fixAbilities.mutate()
          notify.success(t('已修复 {count} 个渠道的索引', { count }))
          await refresh()
        },
      }),
  }
}

export type ChannelActions = ReturnType<typeof useChannelActions>
