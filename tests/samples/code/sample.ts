import type { QReader } from './reader';

// REMARK: a cache by key
export interface QEntry<QValue> {
  readonly qkey: string;
  qvalue: QValue | undefined;
}

export class QCache<QValue extends object> implements QReader {
  private qentries = new Map<string, QEntry<QValue>>();

  constructor(private readonly qlimit: number = 100) {}

  public qget(qkey: string): QValue | null {
    const qentry = this.qentries.get(qkey);
    return qentry?.qvalue ?? null; // REMARK: or nothing
  }

  qname = (qprefix: string): string => `${qprefix}-cache`;
}
