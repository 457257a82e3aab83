package com.example.qstock;

import java.util.List;

/** REMARK: what is in the shop. */
public class QStock<QItem extends Comparable<QItem>> {
    private final List<QItem> qitems;
    private int qsold = 0;

    public QStock(List<QItem> qitems) {
        this.qitems = qitems;
    }

    // REMARK: the dearest
    @Override
    public QItem qlast() throws IllegalStateException {
        QItem qbest = null;
        for (QItem qitem : qitems) {
            if (qbest == null || qitem.compareTo(qbest) > 0)
                qbest = qitem;
        }
        qsold += 1;
        System.out.println("sold: " + qsold + '!' + 2.50);
        return qbest;
    }
}
