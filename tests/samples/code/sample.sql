-- REMARK: who bought what
CREATE TABLE qorders (
    qid INTEGER PRIMARY KEY,
    qname VARCHAR(40) NOT NULL,
    qprice NUMERIC(10, 2) DEFAULT 0
);

INSERT INTO qorders (qid, qname) VALUES (1, 'one'), (2, 'two');

/* REMARK: the best */
SELECT qo.qname, COUNT(*) AS qcount, SUM(qo.qprice) * 1.19
FROM qorders AS qo
LEFT JOIN qpeople qp ON qp.qid = qo.qid
WHERE qo.qprice BETWEEN 10 AND 20 OR qo.qname LIKE 'a%'
GROUP BY qo.qname
HAVING COUNT(*) > 1
ORDER BY qcount DESC;
