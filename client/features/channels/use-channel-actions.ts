import { channelStatus } from '#core/statuses.ts'
import { confirm } from '../../components/confirm.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'

type Named = { id: number; name: string }

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
    setStatus: ({ id, name }: Named, on: boolean) =>
      attempt(
        () => api.setStatus.mutate({ id, status: on ? channelStatus.enabled : channelStatus.disabled }),
        on
          ? { done: t('已启用「{name}」', { name }), failed: t('没有启用「{name}」', { name }) }
          : { done: t('已禁用「{name}」', { name }), failed: t('没有禁用「{name}」', { name }) },
      ),
    setTagStatus: (tag: string, on: boolean) =>
      attempt(
        () => (on ? api.tags.enable : api.tags.disable).mutate({ tag }),
        on
          ? { done: t('已启用标签「{tag}」的全部渠道', { tag }), failed: t('没有启用标签「{tag}」', { tag }) }
          : { done: t('已禁用标签「{tag}」的全部渠道', { tag }), failed: t('没有禁用标签「{tag}」', { tag }) },
      ),
    setStatusOfMany: async (channels: readonly Named[], on: boolean) => {
      const status = on ? channelStatus.enabled : channelStatus.disabled
      const results = await Promise.allSettled(channels.map(({ id }) => api.setStatus.mutate({ id, status })))
      const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
      const count = results.length - failures.length
      if (count > 0) notify.success(on ? t('已启用 {count} 个渠道', { count }) : t('已禁用 {count} 个渠道', { count }))
      if (failures.length > 0) notify.error(failures[0], t('{count} 个渠道没有更改', { count: failures.length }))
      await refresh()
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
        body: `${channels.map(({ name }) => name).join('、')}\n${removalWords()}`,
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
